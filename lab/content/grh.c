// SPDX-License-Identifier: GPL-2.0-or-later
/* The network header that a UD receive finds in front of its data. */
#include <arpa/inet.h>
#include <string.h>

#include "grh.h"

#define NEXT_UDP	17	/* RoCE v2 */
#define NEXT_BTH	0x1b	/* RoCE v1: what follows is an InfiniBand transport header */

enum { BTH = 12, DETH = 8, IMM = 4, ICRC = 4, UDP = 8, IPV4 = 20 };

/* Bytes from the UDP header (v2) or the BTH (v1) to the ICRC. */
static uint32_t transport_bytes(bool v2, uint32_t payload, bool imm)
{
	return (v2 ? UDP : 0) + BTH + DETH + (imm ? IMM : 0) + ((payload + 3) & ~3u) + ICRC;
}

static uint16_t be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

/* The IPv4 header is the last 20 bytes; the 20 before it mean nothing. */
static int check_v4(struct side *s, const uint8_t *ip, const union ibv_gid *from, uint32_t bytes)
{
	if (ip[0] != 0x45 || ip[9] != NEXT_UDP)
		return side_fail(s, "UD area: IPv4 header starts with %02x, protocol %u", ip[0], ip[9]);
	if (be16(ip + 2) != IPV4 + bytes)
		return side_fail(s, "UD area: IPv4 length %u, expected %u", be16(ip + 2), IPV4 + bytes);
	if (memcmp(ip + 12, from->raw + 12, 4) || memcmp(ip + 16, s->dev.gid.raw + 12, 4))
		return side_fail(s, "UD area: wrong IPv4 addresses");
	return 0;
}

static int check_v6(struct side *s, const uint8_t *ip, const union ibv_gid *from, uint32_t bytes, uint8_t next)
{
	if (ip[0] >> 4 != 6 || ip[6] != next)
		return side_fail(s, "UD area: version %u, next header 0x%02x (0x%02x expected)", ip[0] >> 4, ip[6], next);
	if (be16(ip + 4) != bytes)
		return side_fail(s, "UD area: payload length %u, expected %u", be16(ip + 4), bytes);
	if (memcmp(ip + 8, from, 16) || memcmp(ip + 24, &s->dev.gid, 16))
		return side_fail(s, "UD area: wrong GIDs");
	return 0;
}

int grh_check(struct side *s, const uint8_t *area, const union ibv_gid *from, uint32_t payload, bool imm)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool v2 = s->dev.gid_type == IBV_GID_TYPE_ROCE_V2;
	uint32_t bytes = transport_bytes(v2, payload, imm);

	if (v2 && !memcmp(s->dev.gid.raw, mapped, sizeof(mapped)))
		return check_v4(s, area + GRH_BYTES - IPV4, from, bytes);
	return check_v6(s, area, from, bytes, v2 ? NEXT_UDP : NEXT_BTH);
}
