# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
crnic-ib := attr ucontext uar udbr ring pd ah mr frwr
crnic-ib += cq poll srq wqe dead qp qp_size qp_modify qp_query post mcast
