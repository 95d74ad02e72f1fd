# SPDX-License-Identifier: GPL-2.0-or-later
"""A driver in miniature: commands, one EQ and CQ, an Ethernet SQ, RC QPs.

Fields are given by their bit offsets and widths in the kernel's mlx5_ifc.h.
"""

import struct

PAGE = 4096

ENABLE_HCA, DISABLE_HCA, SET_ISSI = 0x104, 0x105, 0x10b
INIT_HCA, QUERY_PAGES, MANAGE_PAGES = 0x102, 0x107, 0x108
CREATE_MKEY, CREATE_EQ, CREATE_CQ = 0x200, 0x301, 0x400
CREATE_QP, RST2INIT, INIT2RTR, RTR2RTS = 0x500, 0x502, 0x503, 0x504
MODIFY_NIC_VPORT, SET_ROCE_ADDRESS = 0x755, 0x761
ALLOC_PD, ALLOC_UAR, ACCESS_REG, ALLOC_TD = 0x800, 0x802, 0x805, 0x816
CREATE_SQ, MODIFY_SQ, CREATE_TIS = 0x904, 0x905, 0x912

PAOS = 0x5006
KEY = 0x42                      # the low byte of each mkey
RING_LOG, RING = 6, 64          # entries of each ring
OP_NOP, OP_RDMA_WRITE, OP_SEND = 0x00, 0x08, 0x0a
SIGNALED = 0x08
CQ_ARM, EQ_ARM, BLUE_FLAME = 0x20, 0x40, 0x800  # in a UAR page
FIRST_ARMING = 2 << 28
VECTOR = 1                      # of the EQ
MTU_1024 = 3
GOOD, ERROR = 0, 13             # CQEs of a requester
PORT_CHANGE = 1 << 9            # an event, in an EQ's mask


def put(buf, bit, width, value, base=0):
    """Set a field of a big-endian structure at byte @base."""
    bit += base * 8
    size = len(buf)
    shift = size * 8 - bit - width
    whole = int.from_bytes(buf) & ~(((1 << width) - 1) << shift)
    buf[:] = (whole | value << shift).to_bytes(size)


class Command(bytearray):
    """The input of a command."""

    def __init__(self, opcode, size=16, op_mod=0):
        super().__init__(size)
        put(self, 0, 16, opcode)
        put(self, 0x30, 16, op_mod)

    def set(self, base, **fields):
        """Each field is (bit offset, width, value) within byte @base."""
        for bit, width, value in fields.values():
            put(self, bit, width, value, base)
        return self


def pages_of(address, size):
    return b''.join(struct.pack('>Q', address + offset)
                    for offset in range(0, size, PAGE))


class Queue:
    """The command queue of a NIC, one command at a time."""

    def __init__(self, nic):
        self.nic, self.m = nic, nic.m
        self.entry = self.m.alloc(PAGE)
        self.boxes = self.m.alloc(4 * PAGE)
        self.out_box = self.m.alloc(PAGE)

    def attach(self, address=None):
        address = self.entry if address is None else address
        self.nic.reg(0x10, address >> 32)
        self.nic.reg(0x14, address & 0xffffffff)

    def fill(self, head, inlen=16, outlen=16, in_ptr=0, out_ptr=0):
        entry = struct.pack('>BxxxIQ', 7, inlen, in_ptr) + bytes(head[:16])
        entry += struct.pack('>16xQIBBxB', out_ptr, outlen, 1, 0, 1)
        self.m.write(self.entry, entry)

    def ring(self):
        self.nic.reg(0x18, 1)

    def result(self):
        """Whether it completed, delivery status and status."""
        after = self.m.read(self.entry, 64)
        return not after[0x3f] & 1, after[0x3f] >> 1, after[0x20]

    def execute(self, opcode, **lengths):
        """A command of 16 bytes that are 0 but for the opcode."""
        self.fill(Command(opcode), **lengths)
        self.ring()
        return self.result()

    def start(self, command, outlen=16):
        """Fill the slot, mailboxes and all; ring() comes after.

        outlen: 528 at most, the entry and one mailbox
        """
        rest, blocks = bytes(command[16:]), []
        while rest:
            blocks.append(rest[:512].ljust(512, b'\0'))
            rest = rest[512:]
        for n, data in enumerate(blocks):
            after = self.boxes + 1024 * (n + 1) if n + 1 < len(blocks) else 0
            self.m.write(self.boxes + 1024 * n, data + struct.pack(
                '>48xQIxBxx', after, n, 1))
        self.m.write(self.out_box, bytes(0x23d) + b'\1\0\0')
        self.fill(command, len(command), outlen, self.boxes if blocks else 0,
                  self.out_box if outlen > 16 else 0)

    def call(self, command, outlen=16):
        """A command that must succeed; returns the dwords behind its status."""
        self.start(command, outlen)
        self.ring()
        self.m.until('command', lambda: self.result()[0])
        out = self.m.read(self.entry + 0x20, 16)
        assert self.result() == (True, 0, 0), (
            f'command {command[:2].hex()}: delivery status '
            f'{self.result()[1]:#x}, status {out[0]:#x}, syndrome '
            f'{out[4:8].hex()}')
        return struct.unpack('>II', out[8:])

    def number(self, command):
        return self.call(command)[0] & 0xffffff


class Driver:
    """What a driver has after its probe."""

    def __init__(self, nic):
        self.nic, self.m = nic, nic.m
        self.q = Queue(nic)
        self.uar = self.pd = self.td = self.eq = self.cq = self.key = 0
        self.eq_ring = self.cq_ring = self.cq_record = self.seen = 0

    def attach(self):
        self.nic.map_bars()
        self.q.attach()

    def give_pages(self, which):
        count = self.q.call(Command(QUERY_PAGES, op_mod=which))[1]
        give = Command(MANAGE_PAGES, 16 + 8 * count, op_mod=1)
        put(give, 0x60, 32, count)
        give[16:] = pages_of(self.m.alloc(count * PAGE), count * PAGE)
        self.q.call(give)

    def init(self):
        """To INIT_HCA."""
        self.attach()
        self.q.call(Command(ENABLE_HCA))
        issi = Command(SET_ISSI)
        put(issi, 0x50, 16, 1)
        self.q.call(issi)
        self.give_pages(1)
        self.give_pages(2)
        self.q.call(Command(INIT_HCA, 32))

    def up(self):
        """To queues that work."""
        self.init()
        self.uar = self.q.number(Command(ALLOC_UAR))
        self.pd = self.q.number(Command(ALLOC_PD))
        self.td = self.q.number(Command(ALLOC_TD))
        self.eq = self.new_eq()
        self.cq = self.new_cq()
        self.key = self.new_key()
        return self

    def new_eq(self):
        self.eq_ring = ring = self.m.alloc(64 * RING)
        self.m.write(ring, (bytes(63) + b'\1') * RING)
        eq = Command(CREATE_EQ, 0x110 + 8).set(
            0x10, log_size=(0x63, 5, RING_LOG), uar=(0x68, 24, self.uar),
            vector=(0xb4, 12, VECTOR), events=(0x240, 64, PORT_CHANGE))
        eq[0x110:] = pages_of(ring, 64 * RING)
        return self.q.number(eq) & 0xff

    def new_cq(self):
        self.cq_ring, self.cq_record = self.m.alloc(64 * RING), self.m.alloc(8)
        self.seen = 0
        self.m.write(self.cq_ring, (bytes(63) + b'\xf1') * RING)
        cq = Command(CREATE_CQ, 0x110 + 8).set(
            0x10, log_size=(0x63, 5, RING_LOG), uar=(0x68, 24, self.uar),
            eq=(0xa0, 32, self.eq), record=(0x1c0, 64, self.cq_record))
        cq[0x110:] = pages_of(self.cq_ring, 64 * RING)
        return self.q.number(cq)

    def arm(self):
        """Ask for an event at the next CQE, and an interrupt at that event."""
        word = struct.pack('>I', FIRST_ARMING | self.seen)
        self.m.write(self.cq_record + 4, word)
        self.m.write(self.nic.bar + self.uar * PAGE + CQ_ARM,
                     word + struct.pack('>I', self.cq))
        self.nic.reg(self.uar * PAGE + EQ_ARM, self.eq << 24)

    def cqes(self):
        """Opcodes of the CQEs that have come since the last call."""
        found = []
        while True:
            at = self.cq_ring + self.seen % RING * 64
            last = self.m.read(at + 63, 1)[0]
            if last >> 4 == 0xf or last & 1 != self.seen // RING & 1:
                break
            found.append(last >> 4)
            self.seen += 1
        self.m.write(self.cq_record, struct.pack('>I', self.seen))
        return found

    def events(self):
        """Types of the events that there are, the first turn of the ring."""
        ring = self.m.read(self.eq_ring, 64 * RING)
        return [ring[n + 1] for n in range(0, len(ring), 64)
                if not ring[n + 63] & 1]

    def new_key(self):
        """Over all addresses there are, with every right."""
        key = Command(CREATE_MKEY, 0x110).set(
            0x10, rights=(0x12, 4, 0xf), all=(0x60, 1, 1),
            qp=(0x20, 24, 0xffffff), low=(0x38, 8, KEY), pd=(0x68, 24, self.pd))
        return self.q.number(key) << 8 | KEY

    def net_up(self):
        """Port, RoCE, and one RoCE v2 address, at index 0."""
        port = Command(ACCESS_REG, 32).set(
            0, register=(0x50, 16, PAOS))
        port.set(16, port=(8, 8, 1), up=(0x14, 4, 1), change=(0x20, 1, 1))
        self.q.call(port, 32)
        roce = Command(MODIFY_NIC_VPORT, 0x200).set(
            0, select=(0x60 + 0x1e, 1, 1), enable=(0x800 + 0x1f, 1, 1))
        self.q.call(roce)
        gid = Command(SET_ROCE_ADDRESS, 0x30).set(
            0x10, address=(0, 128, self.address()),
            mac=(0x90, 48, int.from_bytes(self.nic.mac)), version=(0xd8, 8, 2))
        self.q.call(gid)

    def address(self):
        """10.0.0.n, n the last byte of the MAC, as a GID."""
        return int.from_bytes(bytes(10) + b'\xff\xff\x0a\0\0' +
                              self.nic.mac[-1:])


class SendRing:
    """Basic blocks of 64 bytes; WQEs of up to one."""

    def __init__(self, driver, ring, record):
        self.d, self.m = driver, driver.m
        self.ring_at, self.record = ring, record
        self.producer = self.number = 0
        self.last = bytes(8)

    def post_block(self, opcode, segments):
        """A WQE behind whose control segment @segments follow."""
        head = struct.pack('>IIII', self.producer << 8 & 0xffff00 | opcode,
                           self.number << 8 | 1 + (len(segments) + 15) // 16,
                           SIGNALED, 0)
        at = self.ring_at + self.producer % RING * 64
        self.m.write(at, (head + segments).ljust(64, b'\0'))
        self.producer += 1
        self.last = head[:8]

    def tell(self):
        """The doorbell record, then the doorbell."""
        self.m.write(self.record + 4, struct.pack('>I', self.producer))
        self.m.write(self.d.nic.bar + self.d.uar * PAGE + BLUE_FLAME,
                     self.last)


class EthSq(SendRing):
    """An Ethernet send queue that is ready."""

    def __init__(self, driver):
        d = driver
        super().__init__(d, d.m.alloc(64 * RING), d.m.alloc(8))
        tis = d.q.number(Command(CREATE_TIS, 0xc0).set(
            0x20, td=(0x128, 24, d.td)))
        sq = Command(CREATE_SQ, 0x110 + 8).set(
            0x20, cq=(0x48, 24, d.cq), tis=(0x100, 16, 1),
            tis_0=(0x168, 24, tis))
        sq.set(0x50, cyclic=(0, 4, 1), pd=(0x48, 24, d.pd),
               uar=(0x68, 24, d.uar), stride=(0x10c, 4, 6),
               size=(0x11b, 5, RING_LOG), record=(0x80, 64, self.record))
        sq[0x110:] = pages_of(self.ring_at, 64 * RING)
        self.number = d.q.number(sq)
        d.q.call(Command(MODIFY_SQ, 0x110).set(
            0, sq=(0x48, 24, self.number), now=(0x40, 4, 0),
            to=(0x108, 4, 1)))

    def send(self, frame, address=None, length=0):
        """One frame: 18 bytes of @frame at most, the rest from @address."""
        head = frame[:18]
        segments = struct.pack('>12xH18s', len(head), head)
        if address is not None:
            segments += struct.pack('>IIQ', length, self.d.key, address)
        self.post_block(OP_SEND, segments)


class Rc(SendRing):
    """An RC QP."""

    def __init__(self, driver):
        d = driver
        ring = d.m.alloc(2 * 64 * RING)
        super().__init__(d, ring + 64 * RING, d.m.alloc(8))
        qp = Command(CREATE_QP, 0x110 + 16).set(
            0x18, path=(0x13, 2, 3), pd=(0x28, 24, d.pd),
            rq=(0x49, 4, RING_LOG), stride=(0x4d, 3, 2), sq=(0x51, 4, RING_LOG),
            uar=(0x68, 24, d.uar), index=(0x88, 24, 0xffffff),
            scq=(0x3e8, 24, d.cq), rcq=(0x4e8, 24, d.cq),
            record=(0x500, 64, self.record))
        qp[0x110:] = pages_of(ring, 2 * 64 * RING)
        self.number = d.q.number(qp)

    def modify(self, opcode, **fields):
        self.d.q.call(Command(opcode, 0x110).set(
            0, qp=(0x48, 24, self.number)).set(
            0x18, path=(0x13, 2, 3), writes=(0x491, 1, 1),
            mtu=(0x40, 3, MTU_1024), msg=(0x43, 5, 30),
            port=(0xc0 + 0x128, 8, 1), **fields))

    def connect(self, peer):
        """To RTS; @peer may be this QP."""
        path = 0xc0
        self.modify(RST2INIT)
        self.modify(
            INIT2RTR, remote=(0xa8, 24, peer.number),
            hops=(path + 0x58, 8, 64),
            gid=(path + 0x80, 128, peer.d.address()),
            mac=(path + 0x130, 48, int.from_bytes(peer.d.nic.mac)),
            udp=(path + 0x110, 16, 0xc000))
        self.modify(RTR2RTS, retries=(0x38d, 3, 7), rnr=(0x390, 3, 7),
                    timeout=(path + 0x40, 5, 14))

    def write(self, address, data, peer=None):
        """RDMA WRITE of up to 28 bytes; tell() rings."""
        key = (peer or self).d.key
        self.post_block(OP_RDMA_WRITE, struct.pack('>QII', address, key, 0) +
                        struct.pack('>I', 1 << 31 | len(data)) + data)


def connected(nic, peer_nic=None):
    """RC QPs of one NIC to itself, or of two to each other."""
    drivers = [Driver(n).up() for n in (nic, peer_nic) if n]
    for d in drivers:
        d.net_up()
    a, b = Rc(drivers[0]), Rc(drivers[-1])
    a.connect(b)
    b.connect(a)
    return a, b


def outcome(queue):
    """Ring the doorbell; returns the opcode of the one CQE that comes."""
    found = []

    def come():
        found.extend(queue.d.cqes())
        return found
    queue.tell()
    queue.m.until('a CQE', come)
    assert len(found) == 1, found
    return found[0]


def written(qp, address, data):
    qp.write(address, data)
    return outcome(qp)
