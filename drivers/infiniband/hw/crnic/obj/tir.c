// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Transport interface receive: which RQ gets a packet.
 */
#include <crnic/crnic.h>
#include <crnic/obj/tir.h>

static void crnic_tir_fill_hash(void *tirc, const struct crnic_tir_params *p)
{
	void *sel = MLX5_ADDR_OF(tirc, tirc, rx_hash_field_selector_outer);

	MLX5_SET(tirc, tirc, rx_hash_fn, MLX5_RX_HASH_FN_TOEPLITZ);
	memcpy(MLX5_ADDR_OF(tirc, tirc, rx_hash_toeplitz_key), p->key, CRNIC_TIR_KEY_LEN);
	MLX5_SET(rx_hash_field_select, sel, l3_prot_type,
		 p->ipv6 ? MLX5_L3_PROT_TYPE_IPV6 : MLX5_L3_PROT_TYPE_IPV4);
	MLX5_SET(rx_hash_field_select, sel, l4_prot_type,
		 p->udp ? MLX5_L4_PROT_TYPE_UDP : MLX5_L4_PROT_TYPE_TCP);
	MLX5_SET(rx_hash_field_select, sel, selected_fields, p->hash_fields);
}

static void crnic_tir_fill(void *tirc, const struct crnic_tir_params *p)
{
	MLX5_SET(tirc, tirc, transport_domain, p->tdn);
	MLX5_SET(tirc, tirc, self_lb_block, p->self_lb_block);
	if (p->indirect) {
		MLX5_SET(tirc, tirc, disp_type, MLX5_TIRC_DISP_TYPE_INDIRECT);
		MLX5_SET(tirc, tirc, indirect_table, p->rqtn);
	} else {
		MLX5_SET(tirc, tirc, disp_type, MLX5_TIRC_DISP_TYPE_DIRECT);
		MLX5_SET(tirc, tirc, inline_rqn, p->rqn);
	}
	if (p->hash_fields)
		crnic_tir_fill_hash(tirc, p);
	else
		/* a table without a hash is read at its first entry */
		MLX5_SET(tirc, tirc, rx_hash_fn, p->indirect ? MLX5_RX_HASH_FN_INVERTED_XOR8 :
			 MLX5_RX_HASH_FN_NONE);
}

/**
 * crnic_tir_create - create a TIR
 * @dev: device
 * @p: what it is to be
 * @tirn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_tir_create(struct crnic_dev *dev, const struct crnic_tir_params *p, u32 *tirn)
{
	CRNIC_CMD(create_tir);
	int err;

	MLX5_SET(create_tir_in, in, opcode, MLX5_CMD_OP_CREATE_TIR);
	crnic_tir_fill(MLX5_ADDR_OF(create_tir_in, in, ctx), p);
	err = CRNIC_EXEC(dev, create_tir);
	*tirn = MLX5_GET(create_tir_out, out, tirn);
	return err;
}

/**
 * crnic_tir_destroy - destroy a TIR
 * @dev: device
 * @tirn: its number
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int crnic_tir_destroy(struct crnic_dev *dev, u32 tirn)
{
	CRNIC_CMD(destroy_tir);

	MLX5_SET(destroy_tir_in, in, opcode, MLX5_CMD_OP_DESTROY_TIR);
	MLX5_SET(destroy_tir_in, in, tirn, tirn);
	return CRNIC_EXEC(dev, destroy_tir);
}
