// Launch a kernel of XeTune with Level Zero from its native binary, or from its SPIR-V where the driver refuses it.
//
//   xetune kernels binaries ID --build
//   xetune kernels find --m 96 --n 64 --k 128 --dtype f16 --device b580 -o out
//   g++ -std=c++17 -O2 examples/level_zero_binary.cpp -lze_loader -o run
//   ./run out/kernel-bmg-26.27.039122.zebin out/kernel.spv gemm 64 1 1 1 1 1 24576 16384 24576
//
// After the name of the kernel: work-items of a work-group, work-groups, and the bytes of each buffer (kernel.json).
#include <level_zero/ze_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

static void check(ze_result_t result, const char* what) {
    if (result != ZE_RESULT_SUCCESS) {
        std::fprintf(stderr, "%s: 0x%x\n", what, static_cast<unsigned>(result));
        std::exit(1);
    }
}

static std::vector<uint8_t> read(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

int main(int count, char** given) {
    if (count < 11) {
        std::fprintf(stderr, "expected BINARY SPIRV KERNEL, 3 sizes of a work-group, 3 numbers of them, BYTES...\n");
        return 2;
    }
    check(zeInit(0), "zeInit");
    uint32_t one = 1;
    ze_driver_handle_t driver;
    check(zeDriverGet(&one, &driver), "zeDriverGet");
    ze_device_handle_t device;
    check(zeDeviceGet(driver, &one, &device), "zeDeviceGet");
    ze_device_properties_t facts = {};
    facts.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    check(zeDeviceGetProperties(device, &facts), "zeDeviceGetProperties");
    ze_context_desc_t wanted = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    ze_context_handle_t context;
    check(zeContextCreate(driver, &wanted, &context), "zeContextCreate");

    ze_module_handle_t module = nullptr;
    const char* from = "none";
    const ze_module_format_t formats[] = {ZE_MODULE_FORMAT_NATIVE, ZE_MODULE_FORMAT_IL_SPIRV};
    for (int which = 0; which < 2 && module == nullptr; ++which) {
        const std::vector<uint8_t> file = read(given[1 + which]);
        ze_module_desc_t asked = {ZE_STRUCTURE_TYPE_MODULE_DESC, nullptr, formats[which], file.size(), file.data(),
                                  "-ze-opt-large-register-file", nullptr};
        if (zeModuleCreate(context, device, &asked, &module, nullptr) == ZE_RESULT_SUCCESS) {
            from = which == 0 ? "native binary" : "SPIR-V";
        } else {
            module = nullptr;
        }
    }
    if (module == nullptr) {
        std::fprintf(stderr, "%s takes neither file\n", facts.name);
        return 1;
    }
    ze_kernel_desc_t named = {ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, given[3]};
    ze_kernel_handle_t kernel;
    check(zeKernelCreate(module, &named, &kernel), "zeKernelCreate");
    auto number = [given](int at) { return static_cast<uint32_t>(std::strtoul(given[at], nullptr, 10)); };
    check(zeKernelSetGroupSize(kernel, number(4), number(5), number(6)), "zeKernelSetGroupSize");
    std::vector<void*> buffers;
    for (int at = 10; at < count; ++at) {
        ze_device_mem_alloc_desc_t how = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
        void* buffer = nullptr;
        check(zeMemAllocDevice(context, &how, std::strtoull(given[at], nullptr, 10), 64, device, &buffer), "alloc");
        buffers.push_back(buffer);
        check(zeKernelSetArgumentValue(kernel, static_cast<uint32_t>(at - 10), sizeof(void*), &buffers.back()), "argument");
    }
    ze_command_queue_desc_t queue = {};
    queue.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    queue.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    ze_command_list_handle_t list;
    check(zeCommandListCreateImmediate(context, device, &queue, &list), "zeCommandListCreateImmediate");
    ze_group_count_t groups = {number(7), number(8), number(9)};
    check(zeCommandListAppendLaunchKernel(list, kernel, &groups, nullptr, 0, nullptr), "launch");
    std::printf("launched %s on %s from its %s\n", given[3], facts.name, from);
    return 0;
}
