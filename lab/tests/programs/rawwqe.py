# SPDX-License-Identifier: GPL-2.0-or-later
"""Post a send WQE whose opcode no card knows, on a QP connected to itself,
and print the completion: rawwqe.py DEVICE GID-INDEX. Case 31."""

import sys
import time

import pyverbs.enums as e
import pyverbs.providers.mlx5.mlx5_enums as dve
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.pd import PD
from pyverbs.providers.mlx5.mlx5dv import (Mlx5Context, Mlx5DVContextAttr,
                                           Mlx5DVQPInitAttr, Mlx5QP, Wqe,
                                           WqeCtrlSeg)
from pyverbs.qp import QPAttr, QPCap, QPInitAttrEx

UNKNOWN = 0x3b


def make_qp(ctx, pd, cq):
    init = QPInitAttrEx(
        qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, pd=pd, sq_sig_all=1,
        cap=QPCap(max_send_wr=4, max_recv_wr=4, max_send_sge=1,
                  max_recv_sge=1),
        comp_mask=e.IBV_QP_INIT_ATTR_PD | e.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        send_ops_flags=e.IBV_QP_EX_WITH_SEND)
    raw = Mlx5DVQPInitAttr(
        comp_mask=dve.MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
        send_ops_flags=dve.MLX5DV_QP_EX_WITH_RAW_WQE)
    return Mlx5QP(ctx, init, raw)


def connect_to_itself(ctx, qp, index):
    route = GlobalRoute(dgid=ctx.query_gid(1, index), sgid_index=index)
    attr = QPAttr(port_num=1)
    attr.dest_qp_num = qp.qp_num
    attr.path_mtu = e.IBV_MTU_1024
    attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
    attr.min_rnr_timer, attr.timeout = 12, 14
    attr.retry_cnt = attr.rnr_retry = 7
    attr.ah_attr = AHAttr(gr=route, is_global=1, port_num=1)
    qp.to_rts(attr)


def main():
    device, index = sys.argv[1], int(sys.argv[2])
    ctx = Mlx5Context(Mlx5DVContextAttr(), device)
    pd, cq = PD(ctx), CQ(ctx, 16)
    qp = make_qp(ctx, pd, cq)
    connect_to_itself(ctx, qp, index)
    control = WqeCtrlSeg()
    control.fm_ce_se = dve.MLX5_WQE_CTRL_CQ_UPDATE
    control.opmod_idx_opcode = UNKNOWN
    control.qpn_ds = 1 | qp.qp_num << 8
    qp.wr_start()
    qp.wr_id, qp.wr_flags = 7, e.IBV_SEND_SIGNALED
    qp.wr_raw_wqe(Wqe([control]))
    qp.wr_complete()
    for _ in range(500):
        count, completions = cq.poll(1)
        if count:
            break
        time.sleep(0.01)
    else:
        sys.exit('no completion')
    state = qp.query(e.IBV_QP_STATE)[0].qp_state
    print(f'status {completions[0].status} vendor '
          f'{completions[0].vendor_err:#x} state {state}')


main()
