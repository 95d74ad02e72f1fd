# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
crnic-ib := device attr port gid ucontext uar udbr ring pd ah mr mw umr frwr cq cq_resize
crnic-ib += qp raw qp_size qp_modify qp_query wqe post poll srq idle mcast flow flow_spec flow_dv clock dv stats dead
