// What host code uses of Level Zero, for compilers where its headers are not: names, types and parameters alone.
// Source: oneAPI Level Zero Specification 1.11, Core API. Values of enumerations are not its.
#pragma once

#include <cstddef>
#include <cstdint>

#define ZE_OPAQUE(name) typedef struct _##name *name

ZE_OPAQUE(ze_driver_handle_t);
ZE_OPAQUE(ze_device_handle_t);
ZE_OPAQUE(ze_context_handle_t);
ZE_OPAQUE(ze_command_list_handle_t);
ZE_OPAQUE(ze_module_handle_t);
ZE_OPAQUE(ze_module_build_log_handle_t);
ZE_OPAQUE(ze_kernel_handle_t);
ZE_OPAQUE(ze_event_pool_handle_t);
ZE_OPAQUE(ze_event_handle_t);

enum ze_result_t { ZE_RESULT_SUCCESS };
enum ze_structure_type_t {
  ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
  ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2,
  ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES,
  ZE_STRUCTURE_TYPE_FLOAT_ATOMIC_EXT_PROPERTIES,
  ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES,
  ZE_STRUCTURE_TYPE_CONTEXT_DESC,
  ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
  ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC,
  ZE_STRUCTURE_TYPE_MODULE_DESC,
  ZE_STRUCTURE_TYPE_KERNEL_DESC,
  ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
  ZE_STRUCTURE_TYPE_EVENT_DESC
};
enum ze_device_type_t { ZE_DEVICE_TYPE_GPU };
enum ze_module_format_t { ZE_MODULE_FORMAT_IL_SPIRV };
enum ze_command_queue_mode_t { ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS };
enum ze_command_queue_priority_t {};
typedef std::uint32_t ze_flags_t;
enum : ze_flags_t {
  ZE_INIT_FLAG_GPU_ONLY = 1,
  ZE_DEVICE_MODULE_FLAG_FP16 = 1,
  ZE_DEVICE_MODULE_FLAG_FP64 = 2,
  ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS = 4,
  ZE_DEVICE_FP_ATOMIC_EXT_FLAG_GLOBAL_ADD = 2,
  ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE = 1,
  ZE_EVENT_POOL_FLAG_HOST_VISIBLE = 1,
  ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP = 4,
  ZE_EVENT_SCOPE_FLAG_HOST = 4
};

struct ze_device_properties_t {
  ze_structure_type_t stype;
  void *pNext;
  ze_device_type_t type;
  std::uint64_t timerResolution;
  std::uint32_t kernelTimestampValidBits;
  char name[256];
};
struct ze_driver_extension_properties_t {
  char name[256];
  std::uint32_t version;
};
struct ze_float_atomic_ext_properties_t {
  ze_structure_type_t stype;
  void *pNext;
  ze_flags_t fp16Flags, fp32Flags, fp64Flags;
};
struct ze_device_module_properties_t {
  ze_structure_type_t stype;
  void *pNext;
  std::uint32_t spirvVersionSupported;
  ze_flags_t flags;
};
struct ze_command_queue_group_properties_t {
  ze_structure_type_t stype;
  void *pNext;
  ze_flags_t flags;
};
struct ze_context_desc_t {
  ze_structure_type_t stype;
  const void *pNext;
  ze_flags_t flags;
};
struct ze_command_queue_desc_t {
  ze_structure_type_t stype;
  const void *pNext;
  std::uint32_t ordinal, index;
  ze_flags_t flags;
  ze_command_queue_mode_t mode;
  ze_command_queue_priority_t priority;
};
struct ze_device_mem_alloc_desc_t {
  ze_structure_type_t stype;
  const void *pNext;
  ze_flags_t flags;
  std::uint32_t ordinal;
};
struct ze_module_desc_t {
  ze_structure_type_t stype;
  const void *pNext;
  ze_module_format_t format;
  std::size_t inputSize;
  const std::uint8_t *pInputModule;
  const char *pBuildFlags;
  const void *pConstants;
};
struct ze_kernel_desc_t {
  ze_structure_type_t stype;
  const void *pNext;
  ze_flags_t flags;
  const char *pKernelName;
};
struct ze_event_pool_desc_t {
  ze_structure_type_t stype;
  const void *pNext;
  ze_flags_t flags;
  std::uint32_t count;
};
struct ze_event_desc_t {
  ze_structure_type_t stype;
  const void *pNext;
  std::uint32_t index;
  ze_flags_t signal, wait;
};
struct ze_group_count_t {
  std::uint32_t groupCountX, groupCountY, groupCountZ;
};
struct ze_kernel_timestamp_data_t {
  std::uint64_t kernelStart, kernelEnd;
};
struct ze_kernel_timestamp_result_t {
  ze_kernel_timestamp_data_t global, context;
};

extern "C" {
ze_result_t zeInit(ze_flags_t);
ze_result_t zeDriverGet(std::uint32_t *, ze_driver_handle_t *);
ze_result_t zeDeviceGet(ze_driver_handle_t, std::uint32_t *, ze_device_handle_t *);
ze_result_t zeDeviceGetProperties(ze_device_handle_t, ze_device_properties_t *);
ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t, std::uint32_t *, ze_driver_extension_properties_t *);
ze_result_t zeDeviceGetModuleProperties(ze_device_handle_t, ze_device_module_properties_t *);
ze_result_t zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t, std::uint32_t *,
                                                   ze_command_queue_group_properties_t *);
ze_result_t zeContextCreate(ze_driver_handle_t, const ze_context_desc_t *, ze_context_handle_t *);
ze_result_t zeContextDestroy(ze_context_handle_t);
ze_result_t zeCommandListCreateImmediate(ze_context_handle_t, ze_device_handle_t, const ze_command_queue_desc_t *,
                                         ze_command_list_handle_t *);
ze_result_t zeCommandListDestroy(ze_command_list_handle_t);
ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t, void *, const void *, std::size_t,
                                          ze_event_handle_t, std::uint32_t, ze_event_handle_t *);
ze_result_t zeCommandListAppendLaunchKernel(ze_command_list_handle_t, ze_kernel_handle_t, const ze_group_count_t *,
                                            ze_event_handle_t, std::uint32_t, ze_event_handle_t *);
ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t, ze_event_handle_t, std::uint32_t,
                                       ze_event_handle_t *);
ze_result_t zeMemAllocDevice(ze_context_handle_t, const ze_device_mem_alloc_desc_t *, std::size_t, std::size_t,
                             ze_device_handle_t, void **);
ze_result_t zeMemFree(ze_context_handle_t, void *);
ze_result_t zeModuleCreate(ze_context_handle_t, ze_device_handle_t, const ze_module_desc_t *, ze_module_handle_t *,
                           ze_module_build_log_handle_t *);
ze_result_t zeModuleDestroy(ze_module_handle_t);
ze_result_t zeModuleBuildLogGetString(ze_module_build_log_handle_t, std::size_t *, char *);
ze_result_t zeModuleBuildLogDestroy(ze_module_build_log_handle_t);
ze_result_t zeKernelCreate(ze_module_handle_t, const ze_kernel_desc_t *, ze_kernel_handle_t *);
ze_result_t zeKernelDestroy(ze_kernel_handle_t);
ze_result_t zeKernelSetGroupSize(ze_kernel_handle_t, std::uint32_t, std::uint32_t, std::uint32_t);
ze_result_t zeKernelSetArgumentValue(ze_kernel_handle_t, std::uint32_t, std::size_t, const void *);
ze_result_t zeEventPoolCreate(ze_context_handle_t, const ze_event_pool_desc_t *, std::uint32_t, ze_device_handle_t *,
                              ze_event_pool_handle_t *);
ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t);
ze_result_t zeEventCreate(ze_event_pool_handle_t, const ze_event_desc_t *, ze_event_handle_t *);
ze_result_t zeEventDestroy(ze_event_handle_t);
ze_result_t zeEventHostReset(ze_event_handle_t);
ze_result_t zeEventHostSynchronize(ze_event_handle_t, std::uint64_t);
ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t, ze_kernel_timestamp_result_t *);
}
