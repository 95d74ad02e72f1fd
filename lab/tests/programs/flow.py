# SPDX-License-Identifier: GPL-2.0-or-later
"""Lead frames from a MAC address to a raw packet QP by a rule of mlx5dv, print
the first one, and die with all objects in use: flow.py DEVICE MAC"""

import os
import signal
import sys
import time

import pyverbs.enums as e
import pyverbs.providers.mlx5.mlx5_enums as dve
from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.providers.mlx5.mlx5dv import Mlx5Context, Mlx5DVContextAttr
from pyverbs.providers.mlx5.mlx5dv_flow import (Mlx5Flow, Mlx5FlowActionAttr,
                                                Mlx5FlowMatcher,
                                                Mlx5FlowMatcherAttr,
                                                Mlx5FlowMatchParameters)
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR

OUTER = 1
MAC_LEN = 6
ROOM = 2048


def parameters(values):
    return Mlx5FlowMatchParameters(len(values), values)


def refused(make):
    """Why something cannot be made."""
    try:
        make()
    except PyverbsRDMAError as error:
        return os.strerror(error.error_code)
    sys.exit('was not refused')


def main():
    device, mac = sys.argv[1], bytes.fromhex(sys.argv[2].replace(':', ''))
    ctx = Mlx5Context(Mlx5DVContextAttr(), device)
    pd, cq = PD(ctx), CQ(ctx, 16)
    qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RAW_PACKET, scq=cq, rcq=cq,
                           cap=QPCap(max_send_wr=4, max_recv_wr=4)))
    qp.to_rts(QPAttr())
    mr = MR(pd, ROOM, e.IBV_ACCESS_LOCAL_WRITE)
    qp.post_recv(RecvWR(num_sge=1, sg=[SGE(mr.buf, ROOM, mr.lkey)]))

    mask = parameters(b'\xff' * MAC_LEN)     # the attributes only point to it
    matcher = Mlx5FlowMatcher(ctx, Mlx5FlowMatcherAttr(
        match_mask=mask, match_criteria_enable=OUTER,
        ft_type=dve.MLX5DV_FLOW_TABLE_TYPE_NIC_RX_))
    action = Mlx5FlowActionAttr(
        action_type=dve.MLX5DV_FLOW_ACTION_DEST_IBV_QP, qp=qp)
    flow = Mlx5Flow(matcher, parameters(mac), [action], 1)
    print('again:', refused(
        lambda: Mlx5Flow(matcher, parameters(mac), [action], 1)))
    print('longer:', refused(
        lambda: Mlx5Flow(matcher, parameters(mac + b'\1'), [action], 1)))

    end = time.monotonic() + 10
    while not cq.poll(1)[0]:
        if time.monotonic() > end:
            sys.exit(f'no frame came to {flow}')
        time.sleep(0.01)
    print('frame:', mr.read(14, 0).hex(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


main()
