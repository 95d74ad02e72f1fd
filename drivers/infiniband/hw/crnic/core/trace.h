/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM crnic

#if !defined(CRNIC_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define CRNIC_TRACE_H

#include <linux/device.h>
#include <linux/tracepoint.h>

/* One firmware command, when its answer is in; usec is the whole time, slot included */
TRACE_EVENT(crnic_cmd,
	TP_PROTO(const struct device *device, u16 opcode, u16 op_mod, int err, u8 status,
		 u32 syndrome, s64 usec),
	TP_ARGS(device, opcode, op_mod, err, status, syndrome, usec),
	TP_STRUCT__entry(
		__string(device, dev_name(device))
		__field(u16, opcode)
		__field(u16, op_mod)
		__field(int, err)
		__field(u8, status)
		__field(u32, syndrome)
		__field(s64, usec)
	),
	TP_fast_assign(
		crnic_assign_str(device, dev_name(device));
		__entry->opcode = opcode;
		__entry->op_mod = op_mod;
		__entry->err = err;
		__entry->status = status;
		__entry->syndrome = syndrome;
		__entry->usec = usec;
	),
	TP_printk("%s opcode=0x%03x op_mod=%u err=%d status=0x%02x syndrome=0x%x usec=%lld",
		  __get_str(device), __entry->opcode, __entry->op_mod, __entry->err,
		  __entry->status, __entry->syndrome, __entry->usec)
);

/* One asynchronous event */
TRACE_EVENT(crnic_event,
	TP_PROTO(const struct device *device, u8 type, u8 sub_type, u32 data),
	TP_ARGS(device, type, sub_type, data),
	TP_STRUCT__entry(
		__string(device, dev_name(device))
		__field(u8, type)
		__field(u8, sub_type)
		__field(u32, data)
	),
	TP_fast_assign(
		crnic_assign_str(device, dev_name(device));
		__entry->type = type;
		__entry->sub_type = sub_type;
		__entry->data = data;
	),
	TP_printk("%s type=0x%02x sub_type=0x%02x data=0x%x",
		  __get_str(device), __entry->type, __entry->sub_type, __entry->data)
);

#endif /* CRNIC_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
