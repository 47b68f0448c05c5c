BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE api_key (
	id CHAR(32) NOT NULL, 
	name VARCHAR NOT NULL, 
	prefix VARCHAR NOT NULL, 
	secret_sha256 VARCHAR NOT NULL, 
	scope VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	expires_at DATETIME, 
	last_used_at DATETIME, 
	revoked_at DATETIME, 
	CONSTRAINT pk_api_key PRIMARY KEY (id), 
	CONSTRAINT ck_api_key_prefix_not_empty CHECK (length(prefix) > 0), 
	CONSTRAINT ck_api_key_secret_sha256_is_sha256 CHECK (length(secret_sha256) = 64), 
	CONSTRAINT ck_api_key_scope_known CHECK (scope IN ('read', 'tune', 'admin')), 
	CONSTRAINT uq_api_key_prefix UNIQUE (prefix), 
	CONSTRAINT ck_api_key_name_not_empty CHECK (length(name) > 0)
);
INSERT INTO "api_key" VALUES('01a21de5d5a37b3cb388d908c685301e','reader','45a9f25a4646','c2c676d9987ef9f5cf79681c91a01e854abbc5fb169696097c29c5dd2f2f7285','read','2026-11-27 16:45:31.377902',NULL,NULL,NULL);
CREATE TABLE artifact (
	id INTEGER NOT NULL, 
	kernel_id CHAR(32) NOT NULL, 
	name VARCHAR NOT NULL, 
	sha256 VARCHAR NOT NULL, 
	size BIGINT NOT NULL, 
	media_type VARCHAR NOT NULL, 
	chip VARCHAR, 
	driver VARCHAR, 
	CONSTRAINT pk_artifact PRIMARY KEY (id), 
	CONSTRAINT fk_artifact_kernel_id FOREIGN KEY(kernel_id) REFERENCES kernel (id), 
	CONSTRAINT ck_artifact_driver_iff_chip CHECK ((chip IS NULL) = (driver IS NULL)), 
	CONSTRAINT ck_artifact_name_not_empty CHECK (length(name) > 0), 
	CONSTRAINT ck_artifact_size_not_negative CHECK (size >= 0), 
	CONSTRAINT uq_artifact_kernel_id_name UNIQUE (kernel_id, name), 
	CONSTRAINT ck_artifact_sha256_is_sha256 CHECK (length(sha256) = 64), 
	CONSTRAINT ck_artifact_binary_not_of_nothing CHECK (length(chip) > 0 AND length(driver) > 0)
);
INSERT INTO "artifact" VALUES(1,'01a21dd8a088739db81fdf76170f31e2','deep-tiled.mlir','ade770439d1bcd48e01c1211e59bd3f39ec6a16f44bcec8c404cde05eb3aa642',3205,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(2,'01a21dd8a088739db81fdf76170f31e2','nest.ll','2b64edf9803c7497a3400cf885b12b9befc9eacb3433b8204d735abb65566cde',36290,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(3,'01a21dd8a088739db81fdf76170f31e2','llvm.ll','22866f1dfab13e9463591bbf726e022d5a60757f7fc11f18aaa8a7f225c861bb',38676,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(4,'01a21dd8a088739db81fdf76170f31e2','kernel.o','84548cee62ad55836c3792ddaded08d1e72cd1fd2d4f2bcedec17201fc1e8700',5112,'application/octet-stream',NULL,NULL);
INSERT INTO "artifact" VALUES(5,'01a21dd8a088739db81fdf76170f31e2','kernel.h','de17c360aae13f029bbce16c7da0a8c779577c1c08f76eaf3081c57168376556',1958,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(6,'01a21dd8a088739db81fdf76170f31e2','kernel.json','867bc74faa087e77efac01f4ea60bb2b1691927e34c2420f2cb78ebe816589c8',3185,'application/json',NULL,NULL);
INSERT INTO "artifact" VALUES(7,'01a21dd8fe8c7f9c88456bd36062d23e','deep-tiled.mlir','6ad118858e1141668aca553162375578b42212a2cbed2dbb98e691eee4379023',3828,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(8,'01a21dd8fe8c7f9c88456bd36062d23e','nest.ll','3b47c570d3ff252b47d3d3fcd7911b592e68d3938fdabbb9e71a2473451329b3',41886,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(9,'01a21dd8fe8c7f9c88456bd36062d23e','llvm.ll','156f98af34d54363d81f8981d9a02ec7fcde26876eb6f4d88316b7c9eb75267e',47227,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(10,'01a21dd8fe8c7f9c88456bd36062d23e','kernel.o','669b6720974385337434f4b3827a1cbf45500425142827f619a97ff729547c41',6368,'application/octet-stream',NULL,NULL);
INSERT INTO "artifact" VALUES(11,'01a21dd8fe8c7f9c88456bd36062d23e','kernel.h','8b27d74cb4a85934fd31ec7ac0278f1cb7c0f519e1f5390175504ca03654d399',2040,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(12,'01a21dd8fe8c7f9c88456bd36062d23e','kernel.json','f6f852062053a75c45610de18e3cfb07b6e78bfd22731fc74bef9e31d7301223',3427,'application/json',NULL,NULL);
INSERT INTO "artifact" VALUES(13,'01a21ddac06176fb90a84c909fc7c1ff','xetile.mlir','11677889167ce270a9c7756a67b0a8c511b4af623f9aa748d54e024f23f86b88',3924,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(14,'01a21ddac06176fb90a84c909fc7c1ff','xegpu.mlir','62118a909fd58221efb94fbcedf4e89d3a12c7c452c900a2c9774e83411fa43c',4173,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(15,'01a21ddac06176fb90a84c909fc7c1ff','subgroup.mlir','3bc0490b12c34ee7fc5665cf28a9ce81cfb36bf69d9e89c758529015fc00f5a8',3990,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(16,'01a21ddac06176fb90a84c909fc7c1ff','lanes.mlir','aabed3542915292c8996f6507a6ef4f25b8bc2235db2b41b06cb3ac1dd2d01f4',8521,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(17,'01a21ddac06176fb90a84c909fc7c1ff','llvm.ll','6e429a235fc71208dbb2cce96011442af0519bbac5828fe167c8e2ff68f72a5d',9346,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(18,'01a21ddac06176fb90a84c909fc7c1ff','kernel.spv','f0ffe67735b2d611f52096b5f4fdb19aaf677297087f91598cb11f28a60ad2c6',5588,'application/octet-stream',NULL,NULL);
INSERT INTO "artifact" VALUES(19,'01a21ddac06176fb90a84c909fc7c1ff','kernel.json','2f64d9a3aa67d88b2ae9281ac20cf7809875d88116a411d485f372bad4c62a74',4379,'application/json',NULL,NULL);
INSERT INTO "artifact" VALUES(20,'01a21ddb096b7282bf4886303ce8ffbd','xetile.mlir','5f7c313897803edd84bc1c7c70f93e53984d4e36772cc210e09b63b241c4bb73',4711,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(21,'01a21ddb096b7282bf4886303ce8ffbd','xegpu.mlir','1c47467fd0094a7b6ea7f218f6959ad9e6826c80012c287f72d8eb079fc5a96f',4854,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(22,'01a21ddb096b7282bf4886303ce8ffbd','subgroup.mlir','2b61e4c728444d32c2c87d5b12d60c7b5756ddc3f74ba5522dfed81cd9b213cc',4184,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(23,'01a21ddb096b7282bf4886303ce8ffbd','lanes.mlir','0a4e1aace11f502ac8333e5dddc93c1bf2442dd3d8a113d09e6316e0622f9719',10594,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(24,'01a21ddb096b7282bf4886303ce8ffbd','llvm.ll','a83281f454920f1020f25d1444bd1854459d0ae264f9f169d99c46a305b8df6c',11698,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(25,'01a21ddb096b7282bf4886303ce8ffbd','kernel.spv','c766282ec7236ace8867f5020109df99396e1697873b2958e260702153da6dc6',5716,'application/octet-stream',NULL,NULL);
INSERT INTO "artifact" VALUES(26,'01a21ddb096b7282bf4886303ce8ffbd','kernel.json','07288595fb04e977f8f47ff436727e79df5238f01cb3764cbd473cbd076bfe6b',4321,'application/json',NULL,NULL);
INSERT INTO "artifact" VALUES(27,'01a21ddb0ad772258323d34c6b766f80','xetile.mlir','2bdea838924c7739ae1fe54a979763a2afe195b57176f169d9d193be725a81d9',3885,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(28,'01a21ddb0ad772258323d34c6b766f80','xegpu.mlir','3ff40e965a2ed4382e5e86c54c2a7ad5e7f28f6aad93819afd34f868b0e277f7',4198,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(29,'01a21ddb0ad772258323d34c6b766f80','subgroup.mlir','fbd35451bf062977a7c78a844480a33de8cf2e1c930bb2348b996187860f923f',4338,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(30,'01a21ddb0ad772258323d34c6b766f80','lanes.mlir','e47f8748d9b339750db992a12bc253877c7c35bc7436226572a1c02265952b93',16003,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(31,'01a21ddb0ad772258323d34c6b766f80','llvm.ll','2d4e6cf27ada4c4b7dcef80a7f43c64da0f984590f24f59875092b7510b3c607',17610,'text/plain; charset=utf-8',NULL,NULL);
INSERT INTO "artifact" VALUES(32,'01a21ddb0ad772258323d34c6b766f80','kernel.spv','c38d0316c1886d72e06957c45df3e447517b14b11ee6b49cd9f93c9b4a8bda8b',7920,'application/octet-stream',NULL,NULL);
INSERT INTO "artifact" VALUES(33,'01a21ddb0ad772258323d34c6b766f80','kernel.json','8b4fdf1d5bec7985c185a7eda9131682bc072eb6c8f215e2eba2677b2fb59b8d',4451,'application/json',NULL,NULL);
CREATE TABLE audit_event (
	id CHAR(32) NOT NULL, 
	at DATETIME NOT NULL, 
	actor VARCHAR NOT NULL, 
	key_id CHAR(32), 
	action VARCHAR NOT NULL, 
	subject VARCHAR NOT NULL, 
	request_id VARCHAR, 
	outcome VARCHAR NOT NULL, 
	CONSTRAINT pk_audit_event PRIMARY KEY (id), 
	CONSTRAINT ck_audit_event_actor_not_empty CHECK (length(actor) > 0), 
	CONSTRAINT ck_audit_event_outcome_known CHECK (outcome IN ('done', 'unchanged', 'refused')), 
	CONSTRAINT fk_audit_event_key_id FOREIGN KEY(key_id) REFERENCES api_key (id), 
	CONSTRAINT ck_audit_event_action_not_empty CHECK (length(action) > 0), 
	CONSTRAINT ck_audit_event_subject_not_empty CHECK (length(subject) > 0)
);
INSERT INTO "audit_event" VALUES('01a21dd846d1773d87c46a12b33903ed','2026-11-27 16:30:42.897926','command line',NULL,'job.create','01a21dd8-461d-7048-ab2b-cc3523ae95dc',NULL,'done');
INSERT INTO "audit_event" VALUES('01a21dd9ff827b6c80c89956172ea191','2026-11-27 16:32:35.714745','command line',NULL,'job.create','01a21dd9-fee6-71e3-949b-6798718acaf7',NULL,'done');
INSERT INTO "audit_event" VALUES('01a21de52c5f7da49c3a5913e6cc721f','2026-11-27 16:44:48.095404','command line',NULL,'schedule.create','01a21de5-2beb-7fc2-ba7f-00b1d5170784',NULL,'done');
INSERT INTO "audit_event" VALUES('01a21de5d5d7728297be5d6aaba85390','2026-11-27 16:45:31.479133','command line',NULL,'key.create','01a21de5-d5a3-7b3c-b388-d908c685301e',NULL,'done');
INSERT INTO "audit_event" VALUES('01a21de6d2cf77f88896bc043622a189','2026-11-27 16:46:36.239112','command line',NULL,'record.create','01a21de6-d1b4-7c5b-af48-4aa41c245cb3',NULL,'done');
CREATE TABLE change (
	subject VARCHAR NOT NULL, 
	stamp BIGINT NOT NULL, 
	writer VARCHAR, 
	CONSTRAINT pk_change PRIMARY KEY (subject)
);
INSERT INTO "change" VALUES('device 1',20,NULL);
INSERT INTO "change" VALUES('device 2',31,NULL);
INSERT INTO "change" VALUES('keys',1,NULL);
CREATE TABLE coordinator (
	name VARCHAR NOT NULL, 
	holder VARCHAR NOT NULL, 
	fence BIGINT NOT NULL, 
	since DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_coordinator PRIMARY KEY (name), 
	CONSTRAINT ck_coordinator_fence_counted CHECK (fence >= 1), 
	CONSTRAINT uq_coordinator_name_fence UNIQUE (name, fence), 
	CONSTRAINT ck_coordinator_holder_not_empty CHECK (length(holder) > 0), 
	CONSTRAINT ck_coordinator_name_not_empty CHECK (length(name) > 0)
);
INSERT INTO "coordinator" VALUES('machine vm/00030d84-2304-4d38-b2cf-6d61fd4a4fde:pid:[4026531836]/23852/277094','vm/00030d84-2304-4d38-b2cf-6d61fd4a4fde:pid:[4026531836]/23852/277094',2,'2026-11-27 16:30:44.408192','2026-11-27 16:31:34.093522');
INSERT INTO "coordinator" VALUES('machine vm/00030d84-2304-4d38-b2cf-6d61fd4a4fde:pid:[4026531836]/25456/290649','vm/00030d84-2304-4d38-b2cf-6d61fd4a4fde:pid:[4026531836]/25456/290649',2,'2026-11-27 16:32:36.512869','2026-11-27 16:33:46.000252');
CREATE TABLE device (
	id INTEGER NOT NULL, 
	slug VARCHAR NOT NULL, 
	driver VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	emulates VARCHAR, 
	spec JSON NOT NULL, 
	rates JSON, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_device PRIMARY KEY (id), 
	CONSTRAINT uq_device_slug_driver UNIQUE (slug, driver), 
	CONSTRAINT ck_device_slug_not_empty CHECK (length(slug) > 0), 
	CONSTRAINT ck_device_emulates_another CHECK (emulates IS NULL OR emulates <> slug), 
	CONSTRAINT ck_device_kind_known CHECK (kind IN ('gpu', 'cpu'))
);
INSERT INTO "device" VALUES(1,'cpu-amd-epyc-f25m1-2c','AMD EPYC, microcode 0x1000065, Linux 6.18.44','AMD EPYC','cpu',NULL,'{"id": "cpu-amd-epyc-f25m1-2c", "name": "AMD EPYC", "kind": "cpu", "emulates": null, "provenance": {"architecture": "probed", "target": "derived: its architecture", "driver": "probed", "threads_per_core": "probed", "cores": "probed", "isa": "probed", "vector_bytes": "derived: avx is the widest of its instruction sets", "vector_registers": "derived: avx is the widest of its instruction sets", "l1_bytes": "probed", "l2_bytes": "probed", "l3_bytes": "probed", "cores_per_l2": "probed", "cores_per_l3": "probed", "line_bytes": "probed", "memory_bytes": "probed", "huge_page_bytes": "probed", "numa_nodes": "probed"}, "architecture": "x86_64", "target": "x86-64", "pci_ids": null, "ip_version": null, "driver": "AMD EPYC, microcode 0x1000065, Linux 6.18.44", "grf_bytes": null, "grf_modes": null, "subgroup_sizes": null, "dpas_m": null, "dpas_n": null, "dpas_k_bytes": null, "fp64": null, "block2d": null, "block2d_max_rows": null, "block2d_max_width_bytes": null, "block2d_pitch_multiple_bytes": null, "block2d_min_width_bytes": null, "block2d_base_alignment_bytes": null, "max_slm_bytes": null, "max_workgroup_size": null, "named_barriers_per_core": null, "bf16_conversions": null, "refused_types": null, "xe_cores": null, "eus_per_core": null, "threads_per_eu": null, "threads_per_eu_large_grf": null, "threads_per_eu_by_grf_mode": null, "dpas_f16_fma_per_clk_per_eu": null, "dpas_i8_mac_per_clk_per_eu": null, "dpas_tf32_fma_per_clk_per_eu": null, "f32_fma_per_clk_per_eu": null, "sustained_f16_fma_per_clk_per_eu": null, "sustained_i8_mac_per_clk_per_eu": null, "sustained_tf32_fma_per_clk_per_eu": null, "clock_mhz": null, "nominal_clock_mhz": null, "slm_bytes_per_core": null, "l1_bytes": 32768, "l2_bytes": 524288, "l3_bytes": 33554432, "memory_bytes": 25276063744, "memory_side_cache_bytes": null, "l1_bytes_per_clk_per_core": null, "l2_bytes_per_clk_per_core": null, "bandwidth_bytes_per_s": null, "measured_bandwidth_bytes_per_s": null, "cores": 2, "threads_per_core": 1, "isa": ["avx", "avx2", "bmi1", "bmi2", "f16c", "fma"], "amx_permitted": null, "vector_bytes": 32, "vector_registers": 16, "cores_per_l2": 1, "cores_per_l3": 2, "line_bytes": 64, "huge_page_bytes": 2097152, "numa_nodes": 1}',NULL,'2026-11-27 16:30:42.588316');
INSERT INTO "device" VALUES(2,'b580','','Intel Arc B580','gpu',NULL,'{"id": "b580", "name": "Intel Arc B580", "kind": "gpu", "emulates": null, "provenance": {"pci_ids": "table:intel/compute-runtime@e37c60bf", "xe_cores": "table:intel-xpu-backend-for-triton gpu_info.json", "clock_mhz": "table:intel-xpu-backend-for-triton gpu_info.json", "bandwidth_bytes_per_s": "table:intel-xpu-backend-for-triton gpu_info.json", "memory_bytes": "table:intel-xpu-backend-for-triton gpu_info.json", "nominal_clock_mhz": "table:zolotukhin.ai, Intel Arc B-series GPU reference", "l2_bytes": "table:intel/mlir-extensions Performance_report", "ip_version": "table:intel/compute-runtime@e37c60bf", "target": "table:intel/compute-runtime@e37c60bf", "architecture": "table:intel/compute-runtime@e37c60bf", "l1_bytes": "table:chipsandcheese.com, Intel''s Battlemage architecture", "dpas_f16_fma_per_clk_per_eu": "derived: 116.74 Tflop/s of the B580 over 20 x 8 x 2 at 2.85 GHz", "dpas_i8_mac_per_clk_per_eu": "derived: 233 TOPS of the B580 over 20 x 8 x 2 at 2.85 GHz", "f32_fma_per_clk_per_eu": "table:tomshardware.com, Intel unwraps Lunar Lake architecture", "max_slm_bytes": "table:intel/compute-runtime@e37c60bf", "fp64": "table:Intel''s offline compiler 26.27", "bf16_conversions": "table:Intel''s driver 26.27, simulating it", "max_workgroup_size": "table:PyTorch device properties of a B580", "slm_bytes_per_core": "table:oneDNN@3f27bec2", "dpas_m": "table:registry.khronos.org cl_intel_subgroup_matrix_multiply_accumulate", "dpas_k_bytes": "table:registry.khronos.org cl_intel_subgroup_matrix_multiply_accumulate", "dpas_n": "table:registry.khronos.org cl_intel_subgroup_matrix_multiply_accumulate", "threads_per_eu": "table:intel/compute-runtime@e37c60bf", "threads_per_eu_large_grf": "table:intel/compute-runtime@e37c60bf", "grf_modes": "table:intel/compute-runtime@e37c60bf", "threads_per_eu_by_grf_mode": "table:intel/compute-runtime@e37c60bf", "eus_per_core": "table:intel/compute-runtime@e37c60bf", "grf_bytes": "table:intel/compute-runtime@e37c60bf", "subgroup_sizes": "table:intel/compute-runtime@e37c60bf", "named_barriers_per_core": "table:intel/compute-runtime@e37c60bf", "block2d": "table:registry.khronos.org cl_intel_subgroup_2d_block_io", "block2d_max_rows": "table:registry.khronos.org cl_intel_subgroup_2d_block_io", "block2d_max_width_bytes": "table:registry.khronos.org cl_intel_subgroup_2d_block_io", "block2d_pitch_multiple_bytes": "table:registry.khronos.org cl_intel_subgroup_2d_block_io", "block2d_min_width_bytes": "table:registry.khronos.org cl_intel_subgroup_2d_block_io", "block2d_base_alignment_bytes": "table:registry.khronos.org cl_intel_subgroup_2d_block_io"}, "architecture": "Xe2-HPG", "target": "bmg", "pci_ids": ["E20B", "E209"], "ip_version": "20.1.0", "driver": null, "grf_bytes": 64, "grf_modes": [128, 256], "subgroup_sizes": [16, 32], "dpas_m": 8, "dpas_n": 16, "dpas_k_bytes": 32, "fp64": true, "block2d": true, "block2d_max_rows": 32, "block2d_max_width_bytes": 64, "block2d_pitch_multiple_bytes": 16, "block2d_min_width_bytes": 64, "block2d_base_alignment_bytes": 64, "max_slm_bytes": 131072, "max_workgroup_size": 1024, "named_barriers_per_core": 32, "bf16_conversions": true, "refused_types": null, "xe_cores": 20, "eus_per_core": 8, "threads_per_eu": 8, "threads_per_eu_large_grf": 4, "threads_per_eu_by_grf_mode": [8, 4], "dpas_f16_fma_per_clk_per_eu": 128, "dpas_i8_mac_per_clk_per_eu": 256, "dpas_tf32_fma_per_clk_per_eu": null, "f32_fma_per_clk_per_eu": 16, "sustained_f16_fma_per_clk_per_eu": null, "sustained_i8_mac_per_clk_per_eu": null, "sustained_tf32_fma_per_clk_per_eu": null, "clock_mhz": 2850, "nominal_clock_mhz": 2670, "slm_bytes_per_core": 131072, "l1_bytes": 262144, "l2_bytes": 18874368, "l3_bytes": null, "memory_bytes": 12884901888, "memory_side_cache_bytes": null, "l1_bytes_per_clk_per_core": null, "l2_bytes_per_clk_per_core": null, "bandwidth_bytes_per_s": 456000000000, "measured_bandwidth_bytes_per_s": null, "cores": null, "threads_per_core": null, "isa": null, "amx_permitted": null, "vector_bytes": null, "vector_registers": null, "cores_per_l2": null, "cores_per_l3": null, "line_bytes": null, "huge_page_bytes": null, "numa_nodes": null}',NULL,'2026-11-27 16:32:35.412875');
CREATE TABLE device_quarantine (
	id INTEGER NOT NULL, 
	host VARCHAR NOT NULL, 
	slug VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	job_id CHAR(32), 
	since DATETIME NOT NULL, 
	until DATETIME NOT NULL, 
	CONSTRAINT pk_device_quarantine PRIMARY KEY (id), 
	CONSTRAINT ck_device_quarantine_reason_not_empty CHECK (length(reason) > 0), 
	CONSTRAINT uq_device_quarantine_host_slug UNIQUE (host, slug), 
	CONSTRAINT ck_device_quarantine_slug_not_empty CHECK (length(slug) > 0), 
	CONSTRAINT fk_device_quarantine_job_id FOREIGN KEY(job_id) REFERENCES job (id), 
	CONSTRAINT ck_device_quarantine_host_not_empty CHECK (length(host) > 0)
);
CREATE TABLE device_restriction (
	id INTEGER NOT NULL, 
	device_id INTEGER NOT NULL, 
	version VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	kernel_check VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_device_restriction PRIMARY KEY (id), 
	CONSTRAINT ck_device_restriction_name_not_empty CHECK (length(name) > 0), 
	CONSTRAINT ck_device_restriction_version_not_empty CHECK (length(version) > 0), 
	CONSTRAINT ck_device_restriction_reason_not_empty CHECK (length(reason) > 0), 
	CONSTRAINT fk_device_restriction_device_id FOREIGN KEY(device_id) REFERENCES device (id), 
	CONSTRAINT uq_device_restriction_device_id_version_name UNIQUE (device_id, version, name), 
	CONSTRAINT ck_device_restriction_kernel_check_not_empty CHECK (length(kernel_check) > 0)
);
CREATE TABLE idempotent_answer (
	id INTEGER NOT NULL, 
	caller VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	request_hash VARCHAR NOT NULL, 
	status INTEGER NOT NULL, 
	location VARCHAR, 
	body TEXT NOT NULL, 
	made_at DATETIME NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_idempotent_answer PRIMARY KEY (id), 
	CONSTRAINT ck_idempotent_answer_key_length CHECK (length(key) > 0 AND length(key) <= 255), 
	CONSTRAINT ck_idempotent_answer_status_is_success CHECK (status >= 200 AND status < 300), 
	CONSTRAINT ck_idempotent_answer_request_hash_is_sha256 CHECK (length(request_hash) = 64), 
	CONSTRAINT ck_idempotent_answer_caller_not_empty CHECK (length(caller) > 0), 
	CONSTRAINT uq_idempotent_answer_caller_key UNIQUE (caller, "key")
);
INSERT INTO "idempotent_answer" VALUES(1,'command line','e32f8b34-ddb3-40c7-ae2d-53cb5226790e','f769af2b4a13127ae12885f23bdee916ac878518142a64a6642343d60a53120e',202,'/v1/jobs/01a21dd8-461d-7048-ab2b-cc3523ae95dc','{"seed":0,"reuse":true,"warm_start":true,"search":"portfolio","objective":"time","budget":{"seconds":600.0,"no_gain":null,"roofline":null,"trials":2},"id":"01a21dd8-461d-7048-ab2b-cc3523ae95dc","status":"queued","kind":"search","retry_of":null,"problem":{"m":24,"n":96,"k":40,"batch":1,"dtype_a":"f32","dtype_b":"f32","dtype_c":"f32","dtype_acc":"f32","transpose_a":false,"transpose_b":false,"lda":40,"ldb":96,"ldc":96,"batch_stride_a":960,"batch_stride_b":3840,"batch_stride_c":2304,"alignment":64,"dynamic":false,"deterministic":false,"epilogue":[],"gate":null,"quantization":null,"experts":null},"device":"cpu-amd-epyc-f25m1-2c","origin":null,"cancel_requested":false,"attempts":0,"error":null,"stop":null,"counts":{},"done":0,"best":null,"basis":null,"time_us":null,"roof_us":null,"comparison":null,"choice":null,"wall":null,"created_at":"2026-11-27T16:30:42.719276Z","started_at":null,"finished_at":null,"donors":[],"restrictions":[],"links":{"self":"/v1/jobs/01a21dd8-461d-7048-ab2b-cc3523ae95dc","trials":"/v1/jobs/01a21dd8-461d-7048-ab2b-cc3523ae95dc/trials","events":"/v1/jobs/01a21dd8-461d-7048-ab2b-cc3523ae95dc/events","cancel":"/v1/jobs/01a21dd8-461d-7048-ab2b-cc3523ae95dc/cancel","retry":"/v1/jobs/01a21dd8-461d-7048-ab2b-cc3523ae95dc/retry"}}','2026-11-27 16:30:42.216859','2026-11-28 16:30:42.216859');
INSERT INTO "idempotent_answer" VALUES(2,'command line','aab14d65-eb1c-4504-88fb-51261c45d519','7b097d717833f4083e4abfb1ff4c9fb567453db817caf5cc34ad8157f25d2db6',202,'/v1/jobs/01a21dd9-fee6-71e3-949b-6798718acaf7','{"seed":0,"reuse":true,"warm_start":true,"search":"portfolio","objective":"time","budget":{"seconds":600.0,"no_gain":null,"roofline":null,"trials":3},"id":"01a21dd9-fee6-71e3-949b-6798718acaf7","status":"queued","kind":"search","retry_of":null,"problem":{"m":24,"n":96,"k":48,"batch":1,"dtype_a":"bf16","dtype_b":"bf16","dtype_c":"f32","dtype_acc":"f32","transpose_a":false,"transpose_b":false,"lda":48,"ldb":96,"ldc":96,"batch_stride_a":1152,"batch_stride_b":4608,"batch_stride_c":2304,"alignment":64,"dynamic":false,"deterministic":false,"epilogue":[],"gate":null,"quantization":null,"experts":null},"device":"b580","origin":null,"cancel_requested":false,"attempts":0,"error":null,"stop":null,"counts":{},"done":0,"best":null,"basis":null,"time_us":null,"roof_us":0.04547368421052631,"comparison":null,"choice":null,"wall":null,"created_at":"2026-11-27T16:32:35.582664Z","started_at":null,"finished_at":null,"donors":[],"restrictions":[],"links":{"self":"/v1/jobs/01a21dd9-fee6-71e3-949b-6798718acaf7","trials":"/v1/jobs/01a21dd9-fee6-71e3-949b-6798718acaf7/trials","events":"/v1/jobs/01a21dd9-fee6-71e3-949b-6798718acaf7/events","cancel":"/v1/jobs/01a21dd9-fee6-71e3-949b-6798718acaf7/cancel","retry":"/v1/jobs/01a21dd9-fee6-71e3-949b-6798718acaf7/retry"}}','2026-11-27 16:32:35.137380','2026-11-28 16:32:35.137380');
INSERT INTO "idempotent_answer" VALUES(3,'command line','563e23eb-75ed-4534-92bb-94e5a00b14af','a596dafded127b8e3074887a7ec302d51a59ebe6878f33bfc49393ce9a5cae08',201,'/v1/schedules/01a21de5-2beb-7fc2-ba7f-00b1d5170784','{"id":"01a21de5-2beb-7fc2-ba7f-00b1d5170784","name":"nightly","cron":"30 2 * * mon-fri","timezone":"UTC","hours":null,"kind":"job","job":{"seed":0,"reuse":true,"warm_start":true,"search":"portfolio","objective":null,"budget":{"seconds":600.0,"no_gain":null,"roofline":null,"trials":2},"device":"cpu","target":null,"problem":{"m":24,"n":96,"k":40,"batch":1,"dtype_a":"f16","dtype_b":"f16","dtype_c":null,"dtype_acc":null,"transpose_a":false,"transpose_b":false,"lda":null,"ldb":null,"ldc":null,"batch_stride_a":null,"batch_stride_b":null,"batch_stride_c":null,"alignment":64,"dynamic":false,"deterministic":false,"epilogue":[],"gate":null,"quantization":null,"experts":null}},"shapes":null,"stale":null,"missed":{"policy":"skip","most":1},"misfire_grace_s":300,"enabled":true,"next_due_at":"2026-11-30T02:30:00Z","created_at":"2026-11-27T16:44:47.979484Z","fires":[]}','2026-11-27 16:44:47.897575','2026-11-28 16:44:47.897575');
INSERT INTO "idempotent_answer" VALUES(4,'command line','1fcb06f2-7550-4804-8b7d-1e2095900dc1','11dd01aea8f2aeac151242aa42287c4275819f27e8f728aa0b09fd2afc91e566',201,NULL,'{"id":"01a21de5-d5a3-7b3c-b388-d908c685301e","name":"reader","prefix":"45a9f25a4646","scope":"read","created_at":"2026-11-27T16:45:31.377902Z","expires_at":null,"last_used_at":null,"revoked_at":null,"key":null}','2026-11-27 16:45:31.333346','2026-11-28 16:45:31.333346');
INSERT INTO "idempotent_answer" VALUES(5,'command line','583a7cc1-a069-4ae3-9ac4-a5d31f0ff5cc','23484a020bb7357ff7843a4a5612d707e009225c3e894310442fc3522aa046d4',201,NULL,'{"records":[{"id":"01a21de6-d1b4-7c5b-af48-4aa41c245cb3","new":true}]}','2026-11-27 16:46:35.801476','2026-11-28 16:46:35.801476');
CREATE TABLE job (
	id CHAR(32) NOT NULL, 
	problem_id INTEGER NOT NULL, 
	device_id INTEGER NOT NULL, 
	status VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	started_at DATETIME, 
	finished_at DATETIME, 
	budget_trials INTEGER NOT NULL, 
	budget_seconds DOUBLE NOT NULL, 
	budget_no_gain INTEGER, 
	budget_roofline DOUBLE, 
	seed BIGINT NOT NULL, 
	search VARCHAR NOT NULL, 
	objective VARCHAR NOT NULL, 
	reuse BOOLEAN NOT NULL, 
	warm_start BOOLEAN NOT NULL, 
	candidates JSON, 
	request_hash VARCHAR NOT NULL, 
	request_id VARCHAR, 
	traceparent VARCHAR, 
	retry_of CHAR(32), 
	origin VARCHAR, 
	imported_at DATETIME, 
	cancel_requested BOOLEAN NOT NULL, 
	error VARCHAR, 
	worker VARCHAR, 
	lease_until DATETIME, 
	attempts INTEGER NOT NULL, 
	warm_starts JSON, 
	restrictions JSON, 
	space_hash VARCHAR, 
	best_trial_id INTEGER, 
	compared_default_us DOUBLE, 
	compared_best_us DOUBLE, 
	stop VARCHAR, 
	total_s DOUBLE, 
	propose_s DOUBLE, 
	compile_s DOUBLE, 
	wait_s DOUBLE, 
	verify_s DOUBLE, 
	measure_s DOUBLE, 
	compare_s DOUBLE, 
	device_restarts INTEGER, 
	CONSTRAINT pk_job PRIMARY KEY (id), 
	CONSTRAINT ck_job_stop_known CHECK (stop IN ('trials', 'seconds', 'exhausted', 'no_gain', 'roofline', 'cancelled')), 
	CONSTRAINT ck_job_retry_of_another CHECK (retry_of <> id), 
	CONSTRAINT ck_job_cancelled_was_requested CHECK (status <> 'cancelled' OR cancel_requested), 
	CONSTRAINT ck_job_request_id_not_empty CHECK (length(request_id) > 0), 
	CONSTRAINT ck_job_worker_iff_running CHECK ((status = 'running') = (worker IS NOT NULL)), 
	CONSTRAINT ck_job_error_not_empty CHECK (length(error) > 0), 
	CONSTRAINT ck_job_budget_trials_positive CHECK (budget_trials >= 1), 
	CONSTRAINT fk_job_problem_id FOREIGN KEY(problem_id) REFERENCES problem (id), 
	CONSTRAINT ck_job_compared_both_or_neither CHECK ((compared_default_us IS NULL) = (compared_best_us IS NULL)), 
	CONSTRAINT fk_job_device_id FOREIGN KEY(device_id) REFERENCES device (id), 
	CONSTRAINT ck_job_started_when_run CHECK (status IN ('queued', 'cancelled') OR started_at IS NOT NULL), 
	CONSTRAINT ck_job_search_not_empty CHECK (length(search) > 0), 
	CONSTRAINT ck_job_wall_times_not_negative CHECK (total_s >= 0 AND propose_s >= 0 AND compile_s >= 0 AND wait_s >= 0), 
	CONSTRAINT ck_job_finished_iff_over CHECK ((status IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)), 
	CONSTRAINT ck_job_origin_not_empty CHECK (length(origin) > 0), 
	CONSTRAINT ck_job_compared_positive CHECK (compared_default_us > 0 AND compared_best_us > 0), 
	CONSTRAINT ck_job_budget_roofline_is_fraction CHECK (budget_roofline > 0 AND budget_roofline <= 1), 
	CONSTRAINT ck_job_error_iff_failed CHECK ((status = 'failed') = (error IS NOT NULL)), 
	CONSTRAINT ck_job_started_iff_attempted CHECK ((started_at IS NULL) = (attempts = 0)), 
	CONSTRAINT ck_job_status_known CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')), 
	CONSTRAINT fk_job_retry_of FOREIGN KEY(retry_of) REFERENCES job (id), 
	CONSTRAINT ck_job_traceparent_length CHECK (length(traceparent) = 55), 
	CONSTRAINT ck_job_objective_known CHECK (objective IN ('time', 'time-memory', 'time-energy')), 
	CONSTRAINT fk_job_id_best_trial_id FOREIGN KEY(id, best_trial_id) REFERENCES trial (job_id, id), 
	CONSTRAINT ck_job_lease_iff_running CHECK ((status = 'running') = (lease_until IS NOT NULL)), 
	CONSTRAINT ck_job_budget_no_gain_positive CHECK (budget_no_gain >= 1), 
	CONSTRAINT ck_job_request_hash_is_sha256 CHECK (length(request_hash) = 64), 
	CONSTRAINT ck_job_device_times_not_negative CHECK (verify_s >= 0 AND measure_s >= 0 AND compare_s >= 0), 
	CONSTRAINT ck_job_device_restarts_counted CHECK (device_restarts >= 0), 
	CONSTRAINT ck_job_budget_seconds_positive CHECK (budget_seconds > 0 AND budget_seconds < 1e9), 
	CONSTRAINT ck_job_attempts_counted CHECK (attempts >= 0)
);
INSERT INTO "job" VALUES('01a21dd8461d7048ab2bcc3523ae95dc',1,1,'succeeded','2026-11-27 16:30:42.719276','2026-11-27 16:30:44.645556','2026-11-27 16:31:32.141466',2,600.0,NULL,NULL,0,'portfolio','time',1,1,NULL,'ee250f4951b766ae7967a4ed25c8e8586c49c27ab162430f9b0be1999d3dd0a5','4e6580db97aa9c17',NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,1,'[]','[]','287c55c103a32e3ad1b55529c00649c3f636540e2d7a0780aac6a4900e4d8a2a',1,NULL,NULL,'trials',3.19509568769999532369e+01,1.8206591086999651452e+01,6.36284794399989550583e+00,6.23411909000014929915e+00,2.10913570299953789799e+00,1.71519891199977791984e+00,4.22699999944597948342e-05,0);
INSERT INTO "job" VALUES('01a21dd9fee671e3949b6798718acaf7',2,2,'succeeded','2026-11-27 16:32:35.582664','2026-11-27 16:32:36.726353','2026-11-27 16:33:44.809613',3,600.0,NULL,NULL,0,'portfolio','time',1,1,NULL,'943aafc78333331dee59829415b8913f8a312268827ea58cd4429a434ede2fd5','fc29b579c74e8753',NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,1,NULL,NULL,'2506762276dc21045f70dc5d82e9078dcbde9796f2ee6483a0af576a047f53e6',3,NULL,NULL,'trials',5.427156241000011505e+01,2.74447817299915186595e+00,3.67274798260000352452e+01,3.64543627790003483819e+01,5.26097079999999550636e-01,0.0,7.31869999981427099555e-05,0);
CREATE TABLE kernel (
	id CHAR(32) NOT NULL, 
	problem_id INTEGER NOT NULL, 
	device_id INTEGER NOT NULL, 
	target VARCHAR NOT NULL, 
	config JSON NOT NULL, 
	config_hash VARCHAR NOT NULL, 
	compile_key VARCHAR NOT NULL, 
	content_hash VARCHAR NOT NULL, 
	manifest JSON NOT NULL, 
	toolchain JSON NOT NULL, 
	origin VARCHAR, 
	withdrawn VARCHAR, 
	withdrawn_at DATETIME, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_kernel PRIMARY KEY (id), 
	CONSTRAINT ck_kernel_withdrawn_at_iff_withdrawn CHECK ((withdrawn IS NULL) = (withdrawn_at IS NULL)), 
	CONSTRAINT ck_kernel_config_hash_is_sha256 CHECK (length(config_hash) = 64), 
	CONSTRAINT ck_kernel_withdrawn_not_empty CHECK (length(withdrawn) > 0), 
	CONSTRAINT fk_kernel_problem_id FOREIGN KEY(problem_id) REFERENCES problem (id), 
	CONSTRAINT ck_kernel_content_hash_is_sha256 CHECK (length(content_hash) = 64), 
	CONSTRAINT fk_kernel_device_id FOREIGN KEY(device_id) REFERENCES device (id), 
	CONSTRAINT ck_kernel_target_not_empty CHECK (length(target) > 0), 
	CONSTRAINT ck_kernel_compile_key_is_sha256 CHECK (length(compile_key) = 64), 
	CONSTRAINT ck_kernel_origin_not_empty CHECK (length(origin) > 0), 
	CONSTRAINT uq_kernel_device_id_compile_key_content_hash UNIQUE (device_id, compile_key, content_hash)
);
INSERT INTO "kernel" VALUES('01a21dd8a088739db81fdf76170f31e2',1,1,'cpu-amd-epyc-f25m1-2c','{"matmul": {"threads": {"m": 1, "n": 1, "k": 1}, "block": {"m": 24, "n": 96, "k": 40}, "innermost": {"m": 6, "n": 16, "k": 4}, "loop_order": "pmpnpkomonokinimik"}, "strategy": {"isa": "avx2", "pack_a": "none", "pack_b": "none", "prefetch_distance": 0, "pieces": 1}}','9ef32c64d7f36036219e97fa1a5876282ae31388c3aeea780fddbfc11d80b778','b95e463ebf5dfb593f017b2236d478863895a8a8ed4aba7bc37312e9a0eca032','84548cee62ad55836c3792ddaded08d1e72cd1fd2d4f2bcedec17201fc1e8700','{"content_hash": "sha256:84548cee62ad55836c3792ddaded08d1e72cd1fd2d4f2bcedec17201fc1e8700", "compile_key": "b95e463ebf5dfb593f017b2236d478863895a8a8ed4aba7bc37312e9a0eca032", "compiled_for": "cpu-amd-epyc-f25m1-2c", "needs": ["avx2", "fma", "f16c", "bmi1", "bmi2"], "problem": {"m": 24, "n": 96, "k": 40, "batch": 1, "dtype_a": "f32", "dtype_b": "f32", "dtype_c": "f32", "dtype_acc": "f32", "transpose_a": false, "transpose_b": false, "lda": 40, "ldb": 96, "ldc": 96, "batch_stride_a": 960, "batch_stride_b": 3840, "batch_stride_c": 2304, "alignment": 64, "dynamic": false, "deterministic": false, "epilogue": [], "gate": null, "quantization": null, "experts": null}, "configuration": {"matmul": {"threads": {"m": 1, "n": 1, "k": 1}, "block": {"m": 24, "n": 96, "k": 40}, "innermost": {"m": 6, "n": 16, "k": 4}, "loop_order": "pmpnpkomonokinimik"}, "strategy": {"isa": "avx2", "pack_a": "none", "pack_b": "none", "prefetch_distance": 0, "pieces": 1}}, "abi": {"header": "kernel.h", "object": "kernel.o", "format": "ELF, x86-64 System V, position independent", "returns": "0 (the pool may be null), 3 if a buffer that is written overlaps another one"}, "arguments": [{"index": 0, "name": "A", "role": "input", "dtype": "f32", "bytes": 3840, "kind": "pointer"}, {"index": 1, "name": "B", "role": "input", "dtype": "f32", "bytes": 15360, "kind": "pointer"}, {"index": 2, "name": "C", "role": "output", "dtype": "f32", "bytes": 9216, "kind": "pointer"}], "pointer_alignment_bytes": 64, "threads": 1, "workspace_bytes": 0, "packing": {"A": {"when": "none", "elements": null, "bytes": null}, "B": {"when": "none", "elements": null, "bytes": null}}, "steps": [{"kernel": "xetune_gemm_b95e463ebf5d", "parameters": [{"argument": 0}, {"argument": 1}, {"argument": 2}], "threads": 1, "once": false}], "stages": [{"name": "deep-tiled", "file": "deep-tiled.mlir", "bytes": 3205, "elapsed_ms": 0.331}, {"name": "nest", "file": "nest.ll", "bytes": 36290, "elapsed_ms": 520.226}, {"name": "llvm", "file": "llvm.ll", "bytes": 38676, "elapsed_ms": 21.957}, {"name": "object", "file": "kernel.o", "bytes": 5112, "elapsed_ms": 171.744}, {"name": "header", "file": "kernel.h", "bytes": 1958, "elapsed_ms": 0.564}], "toolchain": {"torch-mlir": "20261001", "llvmlite": "0.50.0", "xdsl": "0.74.0", "xetune-codegen": "956d16c29fa2660c"}}','{"torch-mlir": "20261001", "llvmlite": "0.50.0", "xdsl": "0.74.0", "xetune-codegen": "956d16c29fa2660c"}',NULL,NULL,NULL,'2026-11-27 16:31:05.865065');
INSERT INTO "kernel" VALUES('01a21dd8fe8c7f9c88456bd36062d23e',1,1,'cpu-amd-epyc-f25m1-2c','{"matmul": {"threads": {"m": 2, "n": 1, "k": 1}, "block": {"m": 16, "n": 48, "k": 32}, "innermost": {"m": 4, "n": 16, "k": 1}, "loop_order": "pmpnpkonokomiminik"}, "strategy": {"isa": "avx2", "pack_a": "block", "pack_b": "none", "prefetch_distance": 16, "pieces": 2}}','74046fc89978aff48b6312db4cf10d3d82c6de23a9d41c0afd424d798ed8b91a','26bd74874a9b4129a2e35f5c2ac3d037b3f27094aa726279470fc888d7d9bc84','669b6720974385337434f4b3827a1cbf45500425142827f619a97ff729547c41','{"content_hash": "sha256:669b6720974385337434f4b3827a1cbf45500425142827f619a97ff729547c41", "compile_key": "26bd74874a9b4129a2e35f5c2ac3d037b3f27094aa726279470fc888d7d9bc84", "compiled_for": "cpu-amd-epyc-f25m1-2c", "needs": ["avx2", "fma", "f16c", "bmi1", "bmi2"], "problem": {"m": 24, "n": 96, "k": 40, "batch": 1, "dtype_a": "f32", "dtype_b": "f32", "dtype_c": "f32", "dtype_acc": "f32", "transpose_a": false, "transpose_b": false, "lda": 40, "ldb": 96, "ldc": 96, "batch_stride_a": 960, "batch_stride_b": 3840, "batch_stride_c": 2304, "alignment": 64, "dynamic": false, "deterministic": false, "epilogue": [], "gate": null, "quantization": null, "experts": null}, "configuration": {"matmul": {"threads": {"m": 2, "n": 1, "k": 1}, "block": {"m": 16, "n": 48, "k": 32}, "innermost": {"m": 4, "n": 16, "k": 1}, "loop_order": "pmpnpkonokomiminik"}, "strategy": {"isa": "avx2", "pack_a": "block", "pack_b": "none", "prefetch_distance": 16, "pieces": 2}}, "abi": {"header": "kernel.h", "object": "kernel.o", "format": "ELF, x86-64 System V, position independent", "returns": "0, 1 if the pool has fewer threads than the kernel computes with, 3 if a buffer that is written overlaps another one"}, "arguments": [{"index": 0, "name": "A", "role": "input", "dtype": "f32", "bytes": 3840, "kind": "pointer"}, {"index": 1, "name": "B", "role": "input", "dtype": "f32", "bytes": 15360, "kind": "pointer"}, {"index": 2, "name": "C", "role": "output", "dtype": "f32", "bytes": 9216, "kind": "pointer"}, {"index": 3, "name": "workspace", "role": "scratch", "dtype": "u8", "bytes": 5248, "kind": "pointer"}], "pointer_alignment_bytes": 64, "threads": 2, "workspace_bytes": 5248, "packing": {"A": {"when": "block", "elements": "f32", "bytes": null}, "B": {"when": "none", "elements": null, "bytes": null}}, "steps": [{"kernel": "xetune_gemm_26bd74874a9b", "parameters": [{"argument": 0}, {"argument": 1}, {"argument": 2}, {"argument": 3}], "threads": 2, "once": false}], "stages": [{"name": "deep-tiled", "file": "deep-tiled.mlir", "bytes": 3828, "elapsed_ms": 0.463}, {"name": "nest", "file": "nest.ll", "bytes": 41886, "elapsed_ms": 88.095}, {"name": "llvm", "file": "llvm.ll", "bytes": 47227, "elapsed_ms": 307.374}, {"name": "object", "file": "kernel.o", "bytes": 6368, "elapsed_ms": 1166.156}, {"name": "header", "file": "kernel.h", "bytes": 2040, "elapsed_ms": 0.691}], "toolchain": {"torch-mlir": "20261001", "llvmlite": "0.50.0", "xdsl": "0.74.0", "xetune-codegen": "956d16c29fa2660c"}}','{"torch-mlir": "20261001", "llvmlite": "0.50.0", "xdsl": "0.74.0", "xetune-codegen": "956d16c29fa2660c"}',NULL,NULL,NULL,'2026-11-27 16:31:29.933040');
INSERT INTO "kernel" VALUES('01a21ddac06176fb90a84c909fc7c1ff',2,2,'b580','{"matmul": {"threads": {"m": 2, "n": 6, "k": 1}, "block": {"m": 16, "n": 16, "k": 32}, "innermost": {"m": 8, "n": 16, "k": 32}, "loop_order": "pmpnpkomonokiminik"}, "strategy": {"sg_layout": [2, 1], "prefetch": {"levels": "l1", "distance": 1, "l2_distance": 0, "layout_a": null, "layout_b": null, "hints": true, "payloads": false}, "grf_mode": 256, "slm": "none", "slm_stages": 0, "barrier_every": 0, "raster_group": 1, "split_k": "none", "pipelined_registers": false, "k_unroll": 2, "k_subgroups": 1, "workspace": "none"}}','bc703d4b2945548441908b4627ba35f2ef4624271630f5ab586ef8f3dbb810f0','21fcda503db82c6c81e673dc3513f915e3c171df734bf89ea492d1d7d95a2ccd','f0ffe67735b2d611f52096b5f4fdb19aaf677297087f91598cb11f28a60ad2c6','{"content_hash": "sha256:f0ffe67735b2d611f52096b5f4fdb19aaf677297087f91598cb11f28a60ad2c6", "compile_key": "21fcda503db82c6c81e673dc3513f915e3c171df734bf89ea492d1d7d95a2ccd", "compiled_for": "b580", "problem": {"m": 24, "n": 96, "k": 48, "batch": 1, "dtype_a": "bf16", "dtype_b": "bf16", "dtype_c": "f32", "dtype_acc": "f32", "transpose_a": false, "transpose_b": false, "lda": 48, "ldb": 96, "ldc": 96, "batch_stride_a": 1152, "batch_stride_b": 4608, "batch_stride_c": 2304, "alignment": 64, "dynamic": false, "deterministic": false, "epilogue": [], "gate": null, "quantization": null, "experts": null}, "configuration": {"matmul": {"threads": {"m": 2, "n": 6, "k": 1}, "block": {"m": 16, "n": 16, "k": 32}, "innermost": {"m": 8, "n": 16, "k": 32}, "loop_order": "pmpnpkomonokiminik"}, "strategy": {"sg_layout": [2, 1], "prefetch": {"levels": "l1", "distance": 1, "l2_distance": 0, "layout_a": null, "layout_b": null, "hints": true, "payloads": false}, "grf_mode": 256, "slm": "none", "slm_stages": 0, "barrier_every": 0, "raster_group": 1, "split_k": "none", "pipelined_registers": false, "k_unroll": 2, "k_subgroups": 1, "workspace": "none"}}, "arguments": [{"index": 0, "name": "A", "role": "input", "dtype": "bf16", "bytes": 2304, "kind": "global pointer"}, {"index": 1, "name": "B", "role": "input", "dtype": "bf16", "bytes": 9216, "kind": "global pointer"}, {"index": 2, "name": "C", "role": "output", "dtype": "f32", "bytes": 9216, "kind": "global pointer"}], "pointer_alignment_bytes": 64, "memory_paths": {"A": {"by": "block2d", "because": null}, "B": {"by": "block2d", "because": null}, "C": {"by": "block2d", "because": null}}, "steps": [{"kernel": "gemm", "parameters": [{"argument": 0}, {"argument": 1}, {"argument": 2}], "global_size": [192, 2, 1], "global_size_formula": ["32 * ceil(n / 16)", "ceil(m / 16)", "1"], "local_size": [32, 1, 1]}], "assumes": {"gemm": ["base address (A.pointer): a multiple of 64", "base address (B.pointer): a multiple of 64", "base address (C.pointer): a multiple of 64"]}, "subgroup_size": 16, "build_options": {"opencl": "-cl-intel-256-GRF-per-thread", "level_zero": "-ze-opt-large-register-file"}, "driver_needs": {"spirv": "1.4", "spirv_extensions": ["SPV_INTEL_cache_controls"], "spirv_capabilities": ["Addresses", "Linkage", "Kernel", "Vector16", "Int64", "Int16", "Int8", "SubgroupDispatch", "CacheControlsINTEL"], "opencl_extensions": ["cl_intel_required_subgroup_size", "cl_intel_subgroup_2d_block_io", "cl_intel_subgroup_matrix_multiply_accumulate"]}, "stages": [{"name": "xetile", "file": "xetile.mlir", "bytes": 3924, "elapsed_ms": 317.568}, {"name": "xegpu", "file": "xegpu.mlir", "bytes": 4173, "elapsed_ms": 252.073}, {"name": "subgroup", "file": "subgroup.mlir", "bytes": 3990, "elapsed_ms": 194.424}, {"name": "lanes", "file": "lanes.mlir", "bytes": 8521, "elapsed_ms": 402.802}, {"name": "llvm", "file": "llvm.ll", "bytes": 9346, "elapsed_ms": 336.202}, {"name": "spirv", "file": "kernel.spv", "bytes": 5588, "elapsed_ms": 250.18}], "toolchain": {"torch-mlir": "20261001", "llvmlite": "0.50.0", "xdsl": "0.74.0", "xetune-codegen": "956d16c29fa2660c"}}','{"torch-mlir": "20261001", "llvmlite": "0.50.0", "xdsl": "0.74.0", "xetune-codegen": "956d16c29fa2660c"}',NULL,NULL,NULL,'2026-11-27 16:33:25.105699');
INSERT INTO "kernel" VALUES('01a21ddb096b7282bf4886303ce8ffbd',2,2,'b580','{"matmul": {"threads": {"m": 3, "n": 6, "k": 1}, "block": {"m": 8, "n": 16, "k": 32}, "innermost": {"m": 8, "n": 16, "k": 32}, "loop_order": "pmpnpkomonokiminik"}, "strategy": {"sg_layout": [1, 1], "prefetch": {"levels": "l1", "distance": 1, "l2_distance": 0, "layout_a": null, "layout_b": null, "hints": true, "payloads": true}, "grf_mode": 128, "slm": "none", "slm_stages": 0, "barrier_every": 0, "raster_group": 1, "split_k": "none", "pipelined_registers": true, "k_unroll": 2, "k_subgroups": 1, "workspace": "none"}}','3f751c6b2b2d116eff0b48b785ba3ffdd49953d99d4ea8534b753bb5023913ca','b7651293b0eb55307d3b613c037d149a217a7178abb439fff7edd21c8fe4adf3','c766282ec7236ace8867f5020109df99396e1697873b2958e260702153da6dc6','{"content_hash": "sha256:c766282ec7236ace8867f5020109df99396e1697873b2958e260702153da6dc6", "compile_key": "b7651293b0eb55307d3b613c037d149a217a7178abb439fff7edd21c8fe4adf3", "compiled_for": "b580", "problem": {"m": 24, "n": 96, "k": 48, "batch": 1, "dtype_a": "bf16", "dtype_b": "bf16", "dtype_c": "f32", "dtype_acc": "f32", "transpose_a": false, "transpose_b": false, "lda": 48, "ldb": 96, "ldc": 96, "batch_stride_a": 1152, "batch_stride_b": 4608, "batch_stride_c": 2304, "alignment": 64, "dynamic": false, "deterministic": false, "epilogue": [], "gate": null, "quantization": null, "experts": null}, "configuration": {"matmul": {"threads": {"m": 3, "n": 6, "k": 1}, "block": {"m": 8, "n": 16, "k": 32}, "innermost": {"m": 8, "n": 16, "k": 32}, "loop_order": "pmpnpkomonokiminik"}, "strategy": {"sg_layout": [1, 1], "prefetch": {"levels": "l1", "distance": 1, "l2_distance": 0, "layout_a": null, "layout_b": null, "hints": true, "payloads": true}, "grf_mode": 128, "slm": "none", "slm_stages": 0, "barrier_every": 0, "raster_group": 1, "split_k": "none", "pipelined_registers": true, "k_unroll": 2, "k_subgroups": 1, "workspace": "none"}}, "arguments": [{"index": 0, "name": "A", "role": "input", "dtype": "bf16", "bytes": 2304, "kind": "global pointer"}, {"index": 1, "name": "B", "role": "input", "dtype": "bf16", "bytes": 9216, "kind": "global pointer"}, {"index": 2, "name": "C", "role": "output", "dtype": "f32", "bytes": 9216, "kind": "global pointer"}], "pointer_alignment_bytes": 64, "memory_paths": {"A": {"by": "block2d", "because": null}, "B": {"by": "block2d", "because": null}, "C": {"by": "block2d", "because": null}}, "steps": [{"kernel": "gemm", "parameters": [{"argument": 0}, {"argument": 1}, {"argument": 2}], "global_size": [96, 3, 1], "global_size_formula": ["16 * ceil(n / 16)", "ceil(m / 8)", "1"], "local_size": [16, 1, 1]}], "assumes": {"gemm": ["base address (A.pointer): a multiple of 64", "base address (B.pointer): a multiple of 64", "base address (C.pointer): a multiple of 64"]}, "subgroup_size": 16, "build_options": {"opencl": "", "level_zero": ""}, "driver_needs": {"spirv": "1.4", "spirv_extensions": ["SPV_INTEL_cache_controls"], "spirv_capabilities": ["Addresses", "Linkage", "Kernel", "Vector16", "Int64", "Int16", "Int8", "SubgroupDispatch", "CacheControlsINTEL"], "opencl_extensions": ["cl_intel_required_subgroup_size", "cl_intel_subgroup_2d_block_io", "cl_intel_subgroup_matrix_multiply_accumulate"]}, "stages": [{"name": "xetile", "file": "xetile.mlir", "bytes": 4711, "elapsed_ms": 42.028}, {"name": "xegpu", "file": "xegpu.mlir", "bytes": 4854, "elapsed_ms": 238.367}, {"name": "subgroup", "file": "subgroup.mlir", "bytes": 4184, "elapsed_ms": 268.379}, {"name": "lanes", "file": "lanes.mlir", "bytes": 10594, "elapsed_ms": 565.632}, {"name": "llvm", "file": "llvm.ll", "bytes": 11698, "elapsed_ms": 283.729}, {"name": "spirv", "file": "kernel.spv", "bytes": 5716, "elapsed_ms": 194.763}], "toolchain": {"torch-mlir": "20261001", "llvmlite": "0.50.0", "xdsl": "0.74.0", "xetune-codegen": "956d16c29fa2660c"}}','{"torch-mlir": "20261001", "llvmlite": "0.50.0", "xdsl": "0.74.0", "xetune-codegen": "956d16c29fa2660c"}',NULL,NULL,NULL,'2026-11-27 16:33:43.787472');
INSERT INTO "kernel" VALUES('01a21ddb0ad772258323d34c6b766f80',2,2,'b580','{"matmul": {"threads": {"m": 1, "n": 1, "k": 1}, "block": {"m": 32, "n": 128, "k": 32}, "innermost": {"m": 32, "n": 16, "k": 32}, "loop_order": "pmpnpkomonokiminik"}, "strategy": {"sg_layout": [1, 8], "prefetch": {"levels": "l1", "distance": 1, "l2_distance": 0, "layout_a": [4, 2], "layout_b": [8, 1], "hints": true, "payloads": false}, "grf_mode": 256, "slm": "none", "slm_stages": 0, "barrier_every": 0, "raster_group": 1, "split_k": "none", "pipelined_registers": false, "k_unroll": 2, "k_subgroups": 1, "workspace": "none"}}','9f3bd97acec89e4311ab967c0959c3378508edc28892c18bc4525356a6d37a00','b02f3e999aa5ef16958ba0ada786aab76027d55dba49f2d0817184cb3c5ec9d4','c38d0316c1886d72e06957c45df3e447517b14b11ee6b49cd9f93c9b4a8bda8b','{"content_hash": "sha256:c38d0316c1886d72e06957c45df3e447517b14b11ee6b49cd9f93c9b4a8bda8b", "compile_key": "b02f3e999aa5ef16958ba0ada786aab76027d55dba49f2d0817184cb3c5ec9d4", "compiled_for": "b580", "problem": {"m": 24, "n": 96, "k": 48, "batch": 1, "dtype_a": "bf16", "dtype_b": "bf16", "dtype_c": "f32", "dtype_acc": "f32", "transpose_a": false, "transpose_b": false, "lda": 48, "ldb": 96, "ldc": 96, "batch_stride_a": 1152, "batch_stride_b": 4608, "batch_stride_c": 2304, "alignment": 64, "dynamic": false, "deterministic": false, "epilogue": [], "gate": null, "quantization": null, "experts": null}, "configuration": {"matmul": {"threads": {"m": 1, "n": 1, "k": 1}, "block": {"m": 32, "n": 128, "k": 32}, "innermost": {"m": 32, "n": 16, "k": 32}, "loop_order": "pmpnpkomonokiminik"}, "strategy": {"sg_layout": [1, 8], "prefetch": {"levels": "l1", "distance": 1, "l2_distance": 0, "layout_a": [4, 2], "layout_b": [8, 1], "hints": true, "payloads": false}, "grf_mode": 256, "slm": "none", "slm_stages": 0, "barrier_every": 0, "raster_group": 1, "split_k": "none", "pipelined_registers": false, "k_unroll": 2, "k_subgroups": 1, "workspace": "none"}}, "arguments": [{"index": 0, "name": "A", "role": "input", "dtype": "bf16", "bytes": 2304, "kind": "global pointer"}, {"index": 1, "name": "B", "role": "input", "dtype": "bf16", "bytes": 9216, "kind": "global pointer"}, {"index": 2, "name": "C", "role": "output", "dtype": "f32", "bytes": 9216, "kind": "global pointer"}], "pointer_alignment_bytes": 64, "memory_paths": {"A": {"by": "block2d", "because": null}, "B": {"by": "block2d", "because": null}, "C": {"by": "block2d", "because": null}}, "steps": [{"kernel": "gemm", "parameters": [{"argument": 0}, {"argument": 1}, {"argument": 2}], "global_size": [128, 1, 1], "global_size_formula": ["128 * ceil(n / 128)", "ceil(m / 32)", "1"], "local_size": [128, 1, 1]}], "assumes": {"gemm": ["base address (A.pointer): a multiple of 64", "base address (B.pointer): a multiple of 64", "base address (C.pointer): a multiple of 64"]}, "subgroup_size": 16, "build_options": {"opencl": "-cl-intel-256-GRF-per-thread", "level_zero": "-ze-opt-large-register-file"}, "driver_needs": {"spirv": "1.4", "spirv_extensions": ["SPV_INTEL_cache_controls"], "spirv_capabilities": ["Addresses", "Linkage", "Kernel", "Vector16", "Int64", "Int16", "Int8", "SubgroupDispatch", "CacheControlsINTEL"], "opencl_extensions": ["cl_intel_required_subgroup_size", "cl_intel_subgroup_2d_block_io", "cl_intel_subgroup_matrix_multiply_accumulate"]}, "stages": [{"name": "xetile", "file": "xetile.mlir", "bytes": 3885, "elapsed_ms": 239.681}, {"name": "xegpu", "file": "xegpu.mlir", "bytes": 4198, "elapsed_ms": 275.409}, {"name": "subgroup", "file": "subgroup.mlir", "bytes": 4338, "elapsed_ms": 276.701}, {"name": "lanes", "file": "lanes.mlir", "bytes": 16003, "elapsed_ms": 499.914}, {"name": "llvm", "file": "llvm.ll", "bytes": 17610, "elapsed_ms": 528.729}, {"name": "spirv", "file": "kernel.spv", "bytes": 7920, "elapsed_ms": 437.695}], "toolchain": {"torch-mlir": "20261001", "llvmlite": "0.50.0", "xdsl": "0.74.0", "xetune-codegen": "956d16c29fa2660c"}}','{"torch-mlir": "20261001", "llvmlite": "0.50.0", "xdsl": "0.74.0", "xetune-codegen": "956d16c29fa2660c"}',NULL,NULL,NULL,'2026-11-27 16:33:44.151316');
CREATE TABLE measurement (
	trial_id INTEGER NOT NULL, 
	median_us DOUBLE NOT NULL, 
	min_us DOUBLE NOT NULL, 
	p10_us DOUBLE NOT NULL, 
	p90_us DOUBLE NOT NULL, 
	samples INTEGER NOT NULL, 
	label VARCHAR NOT NULL, 
	driver VARCHAR NOT NULL, 
	versions JSON NOT NULL, 
	stopped_early BOOLEAN, 
	first_ratio DOUBLE, 
	clock_mhz DOUBLE, 
	energy_uj DOUBLE, 
	measured_at DATETIME NOT NULL, 
	CONSTRAINT pk_measurement PRIMARY KEY (trial_id), 
	CONSTRAINT ck_measurement_times_ordered CHECK (min_us <= p10_us AND p10_us <= median_us AND median_us <= p90_us), 
	CONSTRAINT fk_measurement_trial_id FOREIGN KEY(trial_id) REFERENCES trial (id), 
	CONSTRAINT ck_measurement_min_positive CHECK (min_us > 0), 
	CONSTRAINT ck_measurement_label_known CHECK (label IN ('native', 'DPAS emulated')), 
	CONSTRAINT ck_measurement_times_finite CHECK (p90_us < 1e12), 
	CONSTRAINT ck_measurement_samples_positive CHECK (samples >= 1)
);
INSERT INTO "measurement" VALUES(1,7.9377142857142857224e+00,6.047,6.7978571428571425983e+00,1.0133285714285714008e+01,250,'native','AMD EPYC, microcode 0x1000065, Linux 6.18.44','{"torch-mlir": "20261001", "llvmlite": "0.50.0", "xdsl": "0.74.0", "xetune-codegen": "956d16c29fa2660c"}',0,1.0396839680368583636e+00,2445.412,NULL,'2026-11-27 16:31:06.029463');
INSERT INTO "measurement" VALUES(2,11.0738,10.0128,10.2142,1.38055400000000130235e+01,48,'native','AMD EPYC, microcode 0x1000065, Linux 6.18.44','{"torch-mlir": "20261001", "llvmlite": "0.50.0", "xdsl": "0.74.0", "xetune-codegen": "956d16c29fa2660c"}',0,1.51360400223952041185e+02,2445.412,NULL,'2026-11-27 16:31:29.935025');
CREATE TABLE prediction (
	trial_id INTEGER NOT NULL, 
	time_us DOUBLE NOT NULL, 
	low_us DOUBLE NOT NULL, 
	high_us DOUBLE NOT NULL, 
	model_version VARCHAR NOT NULL, 
	burden DOUBLE NOT NULL, 
	predicted_at DATETIME NOT NULL, 
	CONSTRAINT pk_prediction PRIMARY KEY (trial_id), 
	CONSTRAINT ck_prediction_low_positive CHECK (low_us > 0), 
	CONSTRAINT ck_prediction_interval_holds_time CHECK (low_us <= time_us AND time_us <= high_us), 
	CONSTRAINT ck_prediction_interval_finite CHECK (high_us < 1e12), 
	CONSTRAINT fk_prediction_trial_id FOREIGN KEY(trial_id) REFERENCES trial (id), 
	CONSTRAINT ck_prediction_model_version_not_empty CHECK (length(model_version) > 0), 
	CONSTRAINT ck_prediction_burden_not_negative CHECK (burden >= 0)
);
INSERT INTO "prediction" VALUES(3,6.47505310106257603308e+00,1.29690818816411024272e+00,2.07600849617001230744e+01,'xe-4-fb8a8097',6.46666666666666714027e+01,'2026-11-27 16:33:25.180081');
INSERT INTO "prediction" VALUES(4,6.40040390615032173116e+00,1.16683496089596738798e+00,2.09609693747607721552e+01,'xe-4-fb8a8097',6.67142857142857081953e+01,'2026-11-27 16:33:43.794153');
INSERT INTO "prediction" VALUES(5,6.61378307847499513627e+00,1.38361442404687173812e+00,2.09820529255599907969e+01,'xe-4-fb8a8097',64.36,'2026-11-27 16:33:44.170433');
CREATE TABLE prediction_error (
	trial_id INTEGER NOT NULL, 
	measured_trial_id INTEGER NOT NULL, 
	ratio DOUBLE NOT NULL, 
	CONSTRAINT pk_prediction_error PRIMARY KEY (trial_id), 
	CONSTRAINT fk_prediction_error_measured_trial_id FOREIGN KEY(measured_trial_id) REFERENCES trial (id), 
	CONSTRAINT ck_prediction_error_ratio_positive CHECK (ratio > 0 AND ratio < 1e12), 
	CONSTRAINT fk_prediction_error_trial_id FOREIGN KEY(trial_id) REFERENCES prediction (trial_id)
);
CREATE TABLE presence (
	role VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	host VARCHAR NOT NULL, 
	version VARCHAR NOT NULL, 
	started_at DATETIME NOT NULL, 
	seen_at DATETIME NOT NULL, 
	CONSTRAINT pk_presence PRIMARY KEY (role, name), 
	CONSTRAINT ck_presence_host_not_empty CHECK (length(host) > 0), 
	CONSTRAINT ck_presence_name_not_empty CHECK (length(name) > 0), 
	CONSTRAINT ck_presence_role_known CHECK (role IN ('worker', 'scheduler'))
);
CREATE TABLE problem (
	id INTEGER NOT NULL, 
	"key" VARCHAR NOT NULL, 
	m INTEGER NOT NULL, 
	n INTEGER NOT NULL, 
	k INTEGER NOT NULL, 
	batch INTEGER NOT NULL, 
	dtype_a VARCHAR NOT NULL, 
	dtype_b VARCHAR NOT NULL, 
	dtype_c VARCHAR NOT NULL, 
	dtype_acc VARCHAR NOT NULL, 
	transpose_a BOOLEAN NOT NULL, 
	transpose_b BOOLEAN NOT NULL, 
	products INTEGER NOT NULL, 
	quantization VARCHAR NOT NULL, 
	definition JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_problem PRIMARY KEY (id), 
	CONSTRAINT ck_problem_size_positive CHECK (m > 0 AND n > 0 AND k > 0), 
	CONSTRAINT ck_problem_batch_positive CHECK (batch > 0), 
	CONSTRAINT uq_problem_key UNIQUE ("key"), 
	CONSTRAINT ck_problem_key_is_sha256 CHECK (length(key) = 64), 
	CONSTRAINT ck_problem_products_positive CHECK (products > 0)
);
INSERT INTO "problem" VALUES(1,'7616a802192bab691899abc69970109ce53c37146a133934836b7aee037efc35',24,96,40,1,'f32','f32','f32','f32',0,0,1,'','{"m": 24, "n": 96, "k": 40, "batch": 1, "dtype_a": "f32", "dtype_b": "f32", "dtype_c": "f32", "dtype_acc": "f32", "transpose_a": false, "transpose_b": false, "lda": 40, "ldb": 96, "ldc": 96, "batch_stride_a": 960, "batch_stride_b": 3840, "batch_stride_c": 2304, "alignment": 64, "dynamic": false, "deterministic": false, "epilogue": [], "gate": null, "quantization": null, "experts": null}','2026-11-27 16:30:42.665742');
INSERT INTO "problem" VALUES(2,'a9c27e7ea256c1bc4bc54870a9ab49734f38f4b1563003c8668c8ce12a2a2990',24,96,48,1,'bf16','bf16','f32','f32',0,0,1,'','{"m": 24, "n": 96, "k": 48, "batch": 1, "dtype_a": "bf16", "dtype_b": "bf16", "dtype_c": "f32", "dtype_acc": "f32", "transpose_a": false, "transpose_b": false, "lda": 48, "ldb": 96, "ldc": 96, "batch_stride_a": 1152, "batch_stride_b": 4608, "batch_stride_c": 2304, "alignment": 64, "dynamic": false, "deterministic": false, "epilogue": [], "gate": null, "quantization": null, "experts": null}','2026-11-27 16:32:35.536096');
CREATE TABLE reached_device (
	id INTEGER NOT NULL, 
	coordinator VARCHAR NOT NULL, 
	executor VARCHAR NOT NULL, 
	host VARCHAR NOT NULL, 
	device_id INTEGER NOT NULL, 
	seen_at DATETIME NOT NULL, 
	CONSTRAINT pk_reached_device PRIMARY KEY (id), 
	CONSTRAINT ck_reached_device_host_not_empty CHECK (length(host) > 0), 
	CONSTRAINT fk_reached_device_coordinator FOREIGN KEY(coordinator) REFERENCES coordinator (name) ON DELETE CASCADE, 
	CONSTRAINT fk_reached_device_device_id FOREIGN KEY(device_id) REFERENCES device (id), 
	CONSTRAINT ck_reached_device_executor_not_empty CHECK (length(executor) > 0), 
	CONSTRAINT uq_reached_device_coordinator_executor_device_id UNIQUE (coordinator, executor, device_id)
);
CREATE TABLE record (
	id CHAR(32) NOT NULL, 
	tuner VARCHAR NOT NULL, 
	kernel VARCHAR NOT NULL, 
	problem JSON NOT NULL, 
	problem_hash VARCHAR NOT NULL, 
	device VARCHAR NOT NULL, 
	pci_id VARCHAR, 
	named VARCHAR, 
	driver VARCHAR NOT NULL, 
	versions JSON NOT NULL, 
	config JSON NOT NULL, 
	config_hash VARCHAR NOT NULL, 
	document JSON, 
	time_us DOUBLE, 
	min_us DOUBLE, 
	p10_us DOUBLE, 
	p90_us DOUBLE, 
	samples INTEGER, 
	origin VARCHAR, 
	content_hash VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_record PRIMARY KEY (id), 
	CONSTRAINT ck_record_device_not_empty CHECK (length(device) > 0), 
	CONSTRAINT ck_record_samples_positive CHECK (samples >= 1), 
	CONSTRAINT ck_record_config_hash_is_sha256 CHECK (length(config_hash) = 64), 
	CONSTRAINT ck_record_origin_not_empty CHECK (length(origin) > 0), 
	CONSTRAINT ck_record_problem_hash_is_sha256 CHECK (length(problem_hash) = 64), 
	CONSTRAINT ck_record_tuner_not_empty CHECK (length(tuner) > 0), 
	CONSTRAINT ck_record_kernel_not_empty CHECK (length(kernel) > 0), 
	CONSTRAINT ck_record_content_hash_is_sha256 CHECK (length(content_hash) = 64), 
	CONSTRAINT ck_record_time_positive CHECK (time_us > 0 AND time_us < 1e12), 
	CONSTRAINT ck_record_times_ordered CHECK (min_us > 0 AND min_us <= p10_us AND p10_us <= p90_us)
);
INSERT INTO "record" VALUES('01a21de6d1b47c5baf484aa41c245cb3','triton','matmul_kernel','{"M": 512, "N": 384, "K": 1024}','7263001122436d3fb06285ec94ef07b4e458bfeb2062a2d95e39fe7ddd2c4ef0','b60','8086:E211',NULL,'25.18.33578.15','{"triton": "3.9.0"}','{"BLOCK_M": 64}','c10fa7eba5b7042debde39aeeff31ac0a169555ed312375df4de30171f5d4871',NULL,41.5,NULL,NULL,NULL,NULL,NULL,'248ff2b126dafb5b87dac6e5b2e52e45689311f19dc3d3ed2b45af727f2cdd33','2026-11-27 16:46:36.235514');
CREATE TABLE recorded_trial (
	id INTEGER NOT NULL, 
	recording_id CHAR(32) NOT NULL, 
	number INTEGER NOT NULL, 
	config JSON NOT NULL, 
	config_hash VARCHAR NOT NULL, 
	status VARCHAR NOT NULL, 
	reason VARCHAR, 
	time_us DOUBLE, 
	min_us DOUBLE, 
	p10_us DOUBLE, 
	p90_us DOUBLE, 
	samples INTEGER, 
	compile_s DOUBLE, 
	verify_s DOUBLE, 
	measure_s DOUBLE, 
	tried_at DATETIME, 
	CONSTRAINT pk_recorded_trial PRIMARY KEY (id), 
	CONSTRAINT ck_recorded_trial_reason_iff_without_time CHECK ((status = 'measured') = (reason IS NULL)), 
	CONSTRAINT uq_recorded_trial_recording_id_number UNIQUE (recording_id, number), 
	CONSTRAINT ck_recorded_trial_number_counted CHECK (number >= 0), 
	CONSTRAINT uq_recorded_trial_recording_id_config_hash UNIQUE (recording_id, config_hash), 
	CONSTRAINT ck_recorded_trial_samples_positive CHECK (samples >= 1), 
	CONSTRAINT ck_recorded_trial_time_iff_measured CHECK ((status = 'measured') = (time_us IS NOT NULL)), 
	CONSTRAINT ck_recorded_trial_config_hash_is_sha256 CHECK (length(config_hash) = 64), 
	CONSTRAINT ck_recorded_trial_reason_not_empty CHECK (length(reason) > 0), 
	CONSTRAINT ck_recorded_trial_times_ordered CHECK (min_us > 0 AND min_us <= p10_us AND p10_us <= p90_us), 
	CONSTRAINT ck_recorded_trial_time_positive CHECK (time_us > 0 AND time_us < 1e12), 
	CONSTRAINT ck_recorded_trial_status_known CHECK (status IN ('measured', 'rejected', 'compile_failed', 'wrong_result', 'timed_out', 'crashed')), 
	CONSTRAINT fk_recorded_trial_recording_id FOREIGN KEY(recording_id) REFERENCES recording (id)
);
CREATE TABLE recording (
	id CHAR(32) NOT NULL, 
	problem_id INTEGER NOT NULL, 
	device_id INTEGER NOT NULL, 
	format VARCHAR NOT NULL, 
	digest VARCHAR NOT NULL, 
	origin VARCHAR NOT NULL, 
	named VARCHAR NOT NULL, 
	label VARCHAR NOT NULL, 
	imported_at DATETIME NOT NULL, 
	complete BOOLEAN NOT NULL, 
	CONSTRAINT pk_recording PRIMARY KEY (id), 
	CONSTRAINT fk_recording_device_id FOREIGN KEY(device_id) REFERENCES device (id), 
	CONSTRAINT uq_recording_digest UNIQUE (digest), 
	CONSTRAINT ck_recording_format_known CHECK (format IN ('kernel-tuner', 't4')), 
	CONSTRAINT fk_recording_problem_id FOREIGN KEY(problem_id) REFERENCES problem (id), 
	CONSTRAINT ck_recording_label_known CHECK (label IN ('native', 'DPAS emulated')), 
	CONSTRAINT ck_recording_origin_not_empty CHECK (length(origin) > 0), 
	CONSTRAINT ck_recording_digest_is_sha256 CHECK (length(digest) = 64)
);
CREATE TABLE result_change (
	problem_id INTEGER NOT NULL, 
	device_id INTEGER NOT NULL, 
	stamp BIGINT NOT NULL, 
	CONSTRAINT pk_result_change PRIMARY KEY (problem_id, device_id)
);
INSERT INTO "result_change" VALUES(1,1,20);
INSERT INTO "result_change" VALUES(2,2,31);
CREATE TABLE result_key (
	trial_id INTEGER NOT NULL, 
	"key" VARCHAR NOT NULL, 
	run VARCHAR NOT NULL, 
	parts JSON NOT NULL, 
	CONSTRAINT pk_result_key PRIMARY KEY (trial_id), 
	CONSTRAINT ck_result_key_run_is_sha256 CHECK (length(run) = 64), 
	CONSTRAINT fk_result_key_trial_id FOREIGN KEY(trial_id) REFERENCES measurement (trial_id), 
	CONSTRAINT ck_result_key_key_is_sha256 CHECK (length(key) = 64)
);
INSERT INTO "result_key" VALUES(1,'b12da8e7a5bfcfd1ee11ab7e0975bc20a6a2eabb3610fb82141ab57b493c06de','2eed8a3df02fadf7f35447800a679feda85dc21594864c871d352a8098989723','{"binary": "39a8f19bfb0be28fe337de71820f2669b610e293d3e54a06d04316fa9c44f85d", "launch": "27fce3c6d35382f958afdc509c47ce0048c2c60a43ac257ea80824b129c0d5e2", "problem": "7616a802192bab691899abc69970109ce53c37146a133934836b7aee037efc35", "device": {"id": "cpu-amd-epyc-f25m1-2c", "name": "AMD EPYC", "ip_version": null, "pci_ids": null, "eus": null, "cores": 2}, "driver": "AMD EPYC, microcode 0x1000065, Linux 6.18.44", "versions": {"torch-mlir": "20261001", "llvmlite": "0.50.0", "xdsl": "0.74.0", "xetune-codegen": "956d16c29fa2660c"}}');
INSERT INTO "result_key" VALUES(2,'1c9cdc61c2ad4a51efae68c41a324d441dcffaf7de80bbd27496328c245b0f26','c3df1749d06bd15bb4a0cb514c38ee40328b994ba3b01c8bbba68b0d1557a548','{"binary": "632fc96c6995067923e456ec2848973b2e6748759feb08a1b3ad9c45623de9e5", "launch": "cbf882337d10bf4245ad7928f8bcdf04e5cecc631ac5141d14f0317b5c6d4e7b", "problem": "7616a802192bab691899abc69970109ce53c37146a133934836b7aee037efc35", "device": {"id": "cpu-amd-epyc-f25m1-2c", "name": "AMD EPYC", "ip_version": null, "pci_ids": null, "eus": null, "cores": 2}, "driver": "AMD EPYC, microcode 0x1000065, Linux 6.18.44", "versions": {"torch-mlir": "20261001", "llvmlite": "0.50.0", "xdsl": "0.74.0", "xetune-codegen": "956d16c29fa2660c"}}');
CREATE TABLE reuse (
	trial_id INTEGER NOT NULL, 
	source_trial_id INTEGER NOT NULL, 
	scale DOUBLE NOT NULL, 
	CONSTRAINT pk_reuse PRIMARY KEY (trial_id), 
	CONSTRAINT ck_reuse_source_is_another CHECK (trial_id <> source_trial_id), 
	CONSTRAINT fk_reuse_source_trial_id FOREIGN KEY(source_trial_id) REFERENCES trial (id), 
	CONSTRAINT ck_reuse_scale_positive CHECK (scale > 0 AND scale < 1e12), 
	CONSTRAINT fk_reuse_trial_id FOREIGN KEY(trial_id) REFERENCES trial (id)
);
CREATE TABLE schedule (
	id CHAR(32) NOT NULL, 
	name VARCHAR NOT NULL, 
	cron VARCHAR NOT NULL, 
	timezone VARCHAR NOT NULL, 
	hours VARCHAR, 
	kind VARCHAR NOT NULL, 
	template JSON NOT NULL, 
	enabled BOOLEAN NOT NULL, 
	misfire_grace_s INTEGER NOT NULL, 
	missed VARCHAR NOT NULL, 
	missed_most INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	next_due_at DATETIME, 
	CONSTRAINT pk_schedule PRIMARY KEY (id), 
	CONSTRAINT ck_schedule_timezone_not_empty CHECK (length(timezone) > 0), 
	CONSTRAINT ck_schedule_cron_not_empty CHECK (length(cron) > 0), 
	CONSTRAINT ck_schedule_misfire_grace_positive CHECK (misfire_grace_s >= 1), 
	CONSTRAINT ck_schedule_missed_known CHECK (missed IN ('skip', 'once', 'all')), 
	CONSTRAINT ck_schedule_next_due_only_enabled CHECK (enabled OR next_due_at IS NULL), 
	CONSTRAINT ck_schedule_kind_known CHECK (kind IN ('job', 'shapes', 'stale')), 
	CONSTRAINT ck_schedule_hours_are_two_times CHECK (length(hours) = 11), 
	CONSTRAINT ck_schedule_missed_most_positive CHECK (missed_most >= 1), 
	CONSTRAINT uq_schedule_name UNIQUE (name), 
	CONSTRAINT ck_schedule_name_not_empty CHECK (length(name) > 0)
);
INSERT INTO "schedule" VALUES('01a21de52beb7fc2ba7f00b1d5170784','nightly','30 2 * * mon-fri','UTC',NULL,'job','{"seed": 0, "reuse": true, "warm_start": true, "search": "portfolio", "objective": null, "budget": {"seconds": 600.0, "no_gain": null, "roofline": null, "trials": 2}, "device": "cpu", "target": null, "problem": {"m": 24, "n": 96, "k": 40, "batch": 1, "dtype_a": "f16", "dtype_b": "f16", "dtype_c": null, "dtype_acc": null, "transpose_a": false, "transpose_b": false, "lda": null, "ldb": null, "ldc": null, "batch_stride_a": null, "batch_stride_b": null, "batch_stride_c": null, "alignment": 64, "dynamic": false, "deterministic": false, "epilogue": [], "gate": null, "quantization": null, "experts": null}}',1,300,'skip',1,'2026-11-27 16:44:47.979484','2026-11-30 02:30:00.000000');
CREATE TABLE schedule_fire (
	id INTEGER NOT NULL, 
	schedule_id CHAR(32) NOT NULL, 
	due_at DATETIME NOT NULL, 
	fired_at DATETIME NOT NULL, 
	outcome VARCHAR NOT NULL, 
	by_hand BOOLEAN NOT NULL, 
	due_times INTEGER NOT NULL, 
	set_id CHAR(32), 
	reason VARCHAR, 
	CONSTRAINT pk_schedule_fire PRIMARY KEY (id), 
	CONSTRAINT ck_schedule_fire_set_only_of_work CHECK (outcome IN ('created', 'joined') OR set_id IS NULL), 
	CONSTRAINT fk_schedule_fire_set_id FOREIGN KEY(set_id) REFERENCES shape_set (id), 
	CONSTRAINT ck_schedule_fire_due_times_counted CHECK (due_times >= 1), 
	CONSTRAINT ck_schedule_fire_refused_says_why CHECK (outcome <> 'refused' OR reason IS NOT NULL), 
	CONSTRAINT ck_schedule_fire_outcome_known CHECK (outcome IN ('created', 'joined', 'nothing', 'missed', 'refused')), 
	CONSTRAINT fk_schedule_fire_schedule_id FOREIGN KEY(schedule_id) REFERENCES schedule (id) ON DELETE CASCADE, 
	CONSTRAINT uq_schedule_fire_schedule_id_due_at UNIQUE (schedule_id, due_at)
);
CREATE TABLE schedule_fire_job (
	fire_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	job_id CHAR(32) NOT NULL, 
	is_new BOOLEAN NOT NULL, 
	CONSTRAINT pk_schedule_fire_job PRIMARY KEY (fire_id, position), 
	CONSTRAINT ck_schedule_fire_job_position_counted CHECK (position >= 0), 
	CONSTRAINT uq_schedule_fire_job_fire_id_job_id UNIQUE (fire_id, job_id), 
	CONSTRAINT fk_schedule_fire_job_fire_id FOREIGN KEY(fire_id) REFERENCES schedule_fire (id) ON DELETE CASCADE, 
	CONSTRAINT fk_schedule_fire_job_job_id FOREIGN KEY(job_id) REFERENCES job (id)
);
CREATE TABLE shape_set (
	id CHAR(32) NOT NULL, 
	source VARCHAR NOT NULL, 
	device_id INTEGER NOT NULL, 
	status VARCHAR NOT NULL, 
	budget_trials INTEGER NOT NULL, 
	budget_seconds DOUBLE NOT NULL, 
	within DOUBLE NOT NULL, 
	request_hash VARCHAR NOT NULL, 
	spent_s DOUBLE NOT NULL, 
	compiled INTEGER NOT NULL, 
	reused INTEGER NOT NULL, 
	holder VARCHAR, 
	lease_until DATETIME, 
	error VARCHAR, 
	created_at DATETIME NOT NULL, 
	finished_at DATETIME, 
	CONSTRAINT pk_shape_set PRIMARY KEY (id), 
	CONSTRAINT ck_shape_set_counts_not_negative CHECK (spent_s >= 0 AND compiled >= 0 AND reused >= 0), 
	CONSTRAINT ck_shape_set_status_known CHECK (status IN ('active', 'succeeded', 'cancelled')), 
	CONSTRAINT ck_shape_set_holder_not_empty CHECK (length(holder) > 0), 
	CONSTRAINT ck_shape_set_within_is_a_fraction CHECK (within >= 0 AND within <= 1), 
	CONSTRAINT ck_shape_set_budget_seconds_positive CHECK (budget_seconds > 0 AND budget_seconds < 1e9), 
	CONSTRAINT ck_shape_set_lease_iff_held CHECK ((holder IS NULL) = (lease_until IS NULL)), 
	CONSTRAINT ck_shape_set_request_hash_is_sha256 CHECK (length(request_hash) = 64), 
	CONSTRAINT fk_shape_set_device_id FOREIGN KEY(device_id) REFERENCES device (id), 
	CONSTRAINT ck_shape_set_finished_iff_over CHECK ((status = 'active') = (finished_at IS NULL)), 
	CONSTRAINT ck_shape_set_budget_trials_positive CHECK (budget_trials >= 1), 
	CONSTRAINT ck_shape_set_source_not_empty CHECK (length(source) > 0), 
	CONSTRAINT ck_shape_set_error_not_empty CHECK (length(error) > 0)
);
CREATE TABLE shape_set_cell (
	kernel_id INTEGER NOT NULL, 
	member_id INTEGER NOT NULL, 
	time_us DOUBLE, 
	evidence VARCHAR NOT NULL, 
	reason VARCHAR, 
	content_hash VARCHAR, 
	CONSTRAINT pk_shape_set_cell PRIMARY KEY (kernel_id, member_id), 
	CONSTRAINT fk_shape_set_cell_member_id FOREIGN KEY(member_id) REFERENCES shape_set_member (id), 
	CONSTRAINT ck_shape_set_cell_time_positive CHECK (time_us > 0 AND time_us < 1e12), 
	CONSTRAINT ck_shape_set_cell_time_iff_known CHECK ((evidence = 'none') = (time_us IS NULL)), 
	CONSTRAINT ck_shape_set_cell_content_hash_is_sha256 CHECK (length(content_hash) = 64), 
	CONSTRAINT ck_shape_set_cell_evidence_known CHECK (evidence IN ('interleaved', 'trial', 'predicted', 'none')), 
	CONSTRAINT fk_shape_set_cell_kernel_id FOREIGN KEY(kernel_id) REFERENCES shape_set_kernel (id), 
	CONSTRAINT ck_shape_set_cell_reason_iff_without_time CHECK ((evidence = 'none') = (reason IS NOT NULL))
);
CREATE TABLE shape_set_kernel (
	id INTEGER NOT NULL, 
	set_id CHAR(32) NOT NULL, 
	position INTEGER NOT NULL, 
	member_id INTEGER NOT NULL, 
	config JSON NOT NULL, 
	CONSTRAINT pk_shape_set_kernel PRIMARY KEY (id), 
	CONSTRAINT fk_shape_set_kernel_set_id FOREIGN KEY(set_id) REFERENCES shape_set (id), 
	CONSTRAINT ck_shape_set_kernel_position_counted CHECK (position >= 0), 
	CONSTRAINT uq_shape_set_kernel_set_id_position UNIQUE (set_id, position), 
	CONSTRAINT fk_shape_set_kernel_member_id FOREIGN KEY(member_id) REFERENCES shape_set_member (id)
);
CREATE TABLE shape_set_member (
	id INTEGER NOT NULL, 
	set_id CHAR(32) NOT NULL, 
	position INTEGER NOT NULL, 
	job_id CHAR(32) NOT NULL, 
	weight DOUBLE NOT NULL, 
	name VARCHAR NOT NULL, 
	CONSTRAINT pk_shape_set_member PRIMARY KEY (id), 
	CONSTRAINT uq_shape_set_member_set_id_position UNIQUE (set_id, position), 
	CONSTRAINT uq_shape_set_member_job_id UNIQUE (job_id), 
	CONSTRAINT ck_shape_set_member_weight_positive CHECK (weight > 0), 
	CONSTRAINT fk_shape_set_member_set_id FOREIGN KEY(set_id) REFERENCES shape_set (id), 
	CONSTRAINT fk_shape_set_member_job_id FOREIGN KEY(job_id) REFERENCES job (id), 
	CONSTRAINT ck_shape_set_member_position_counted CHECK (position >= 0)
);
CREATE TABLE tally (
	name VARCHAR NOT NULL, 
	number BIGINT NOT NULL, 
	CONSTRAINT pk_tally PRIMARY KEY (name), 
	CONSTRAINT ck_tally_not_negative CHECK (number >= 0)
);
INSERT INTO "tally" VALUES('compile_cache_misses',5);
CREATE TABLE trial (
	id INTEGER NOT NULL, 
	job_id CHAR(32) NOT NULL, 
	number INTEGER NOT NULL, 
	config JSON NOT NULL, 
	config_hash VARCHAR NOT NULL, 
	proposer VARCHAR, 
	status VARCHAR NOT NULL, 
	reason VARCHAR, 
	proof_kind VARCHAR NOT NULL, 
	proof_checked INTEGER NOT NULL, 
	proof_total INTEGER NOT NULL, 
	max_error DOUBLE, 
	tolerance DOUBLE, 
	proof_method VARCHAR, 
	proof_refusal VARCHAR, 
	acceptance JSON, 
	kernel_id CHAR(32), 
	compile_s DOUBLE NOT NULL, 
	verify_s DOUBLE NOT NULL, 
	measure_s DOUBLE NOT NULL, 
	begun_at DATETIME NOT NULL, 
	ended_at DATETIME, 
	CONSTRAINT pk_trial PRIMARY KEY (id), 
	CONSTRAINT ck_trial_measured_is_proven CHECK (status <> 'measured' OR (proof_kind <> 'none' AND max_error IS NOT NULL AND tolerance IS NOT NULL)), 
	CONSTRAINT ck_trial_proof_counts_iff_proven CHECK ((proof_kind = 'none') = (proof_total = 0)), 
	CONSTRAINT uq_trial_job_id_number UNIQUE (job_id, number), 
	CONSTRAINT ck_trial_max_error_not_negative CHECK (max_error >= 0), 
	CONSTRAINT ck_trial_wall_times_not_negative CHECK (compile_s >= 0 AND verify_s >= 0 AND measure_s >= 0), 
	CONSTRAINT ck_trial_ended_iff_not_pending CHECK ((status = 'pending') = (ended_at IS NULL)), 
	CONSTRAINT ck_trial_status_known CHECK (status IN ('pending', 'measured', 'predicted', 'rejected', 'compile_failed', 'wrong_result', 'timed_out', 'crashed')), 
	CONSTRAINT fk_trial_kernel_id FOREIGN KEY(kernel_id) REFERENCES kernel (id), 
	CONSTRAINT ck_trial_measured_has_kernel CHECK (status <> 'measured' OR kernel_id IS NOT NULL), 
	CONSTRAINT ck_trial_tolerance_not_negative CHECK (tolerance >= 0), 
	CONSTRAINT ck_trial_config_hash_is_sha256 CHECK (length(config_hash) = 64), 
	CONSTRAINT ck_trial_reason_iff_without_time CHECK ((status IN ('pending', 'measured', 'predicted')) = (reason IS NULL)), 
	CONSTRAINT ck_trial_number_counted CHECK (number >= 0), 
	CONSTRAINT ck_trial_timed_is_within_tolerance CHECK (status NOT IN ('measured', 'predicted') OR max_error <= tolerance), 
	CONSTRAINT ck_trial_pending_has_no_kernel CHECK (status <> 'pending' OR kernel_id IS NULL), 
	CONSTRAINT ck_trial_proof_kind_known CHECK (proof_kind IN ('device', 'opencl_cpu', 'machine_code', 'simulator', 'none')), 
	CONSTRAINT uq_trial_job_id_config_hash UNIQUE (job_id, config_hash), 
	CONSTRAINT ck_trial_reason_not_empty CHECK (length(reason) > 0), 
	CONSTRAINT fk_trial_job_id FOREIGN KEY(job_id) REFERENCES job (id), 
	CONSTRAINT ck_trial_accepted_has_kernel CHECK (acceptance IS NULL OR kernel_id IS NOT NULL), 
	CONSTRAINT ck_trial_proof_counts CHECK (proof_checked >= 0 AND proof_checked <= proof_total), 
	CONSTRAINT ck_trial_pending_has_no_proof CHECK (status <> 'pending' OR proof_kind = 'none'), 
	CONSTRAINT uq_trial_job_id_id UNIQUE (job_id, id)
);
INSERT INTO "trial" VALUES(1,'01a21dd8461d7048ab2bcc3523ae95dc',0,'{"matmul": {"threads": {"m": 1, "n": 1, "k": 1}, "block": {"m": 24, "n": 96, "k": 40}, "innermost": {"m": 6, "n": 16, "k": 4}, "loop_order": "pmpnpkomonokinimik"}, "strategy": {"isa": "avx2", "pack_a": "none", "pack_b": "none", "prefetch_distance": 0, "pieces": 1}}','9ef32c64d7f36036219e97fa1a5876282ae31388c3aeea780fddbfc11d80b778','default','measured',NULL,'device',1,1,2.16066837310791015625e-07,1.26510858535766601562e-05,'elements',NULL,NULL,'01a21dd8a088739db81fdf76170f31e2',3.42083622000018294784e+00,2.01777006599968444788e+00,8.3395574399992256076e-01,'2026-11-27 16:30:58.714559','2026-11-27 16:31:05.924706');
INSERT INTO "trial" VALUES(2,'01a21dd8461d7048ab2bcc3523ae95dc',1,'{"matmul": {"threads": {"m": 2, "n": 1, "k": 1}, "block": {"m": 16, "n": 48, "k": 32}, "innermost": {"m": 4, "n": 16, "k": 1}, "loop_order": "pmpnpkonokomiminik"}, "strategy": {"isa": "avx2", "pack_a": "block", "pack_b": "none", "prefetch_distance": 16, "pieces": 2}}','74046fc89978aff48b6312db4cf10d3d82c6de23a9d41c0afd424d798ed8b91a','random','measured',NULL,'device',4,4,2.16066837310791015625e-07,1.26510858535766601562e-05,'elements',NULL,NULL,'01a21dd8fe8c7f9c88456bd36062d23e',2.81328286999996635131e+00,9.13656369998534501064e-02,8.81243167999855359084e-01,'2026-11-27 16:31:25.861704','2026-11-27 16:31:29.933978');
INSERT INTO "trial" VALUES(3,'01a21dd9fee671e3949b6798718acaf7',0,'{"matmul": {"threads": {"m": 2, "n": 6, "k": 1}, "block": {"m": 16, "n": 16, "k": 32}, "innermost": {"m": 8, "n": 16, "k": 32}, "loop_order": "pmpnpkomonokiminik"}, "strategy": {"sg_layout": [2, 1], "prefetch": {"levels": "l1", "distance": 1, "l2_distance": 0, "layout_a": null, "layout_b": null, "hints": true, "payloads": false}, "grf_mode": 256, "slm": "none", "slm_stages": 0, "barrier_every": 0, "raster_group": 1, "split_k": "none", "pipelined_registers": false, "k_unroll": 2, "k_subgroups": 1, "workspace": "none"}}','bc703d4b2945548441908b4627ba35f2ef4624271630f5ab586ef8f3dbb810f0','default','predicted',NULL,'simulator',12,12,4.470348358154296875e-08,1.5318393707275390625e-05,'elements',NULL,NULL,'01a21ddac06176fb90a84c909fc7c1ff',2.15070825610000611045e+01,2.6483948399982182309e-01,0.0,'2026-11-27 16:32:50.477633','2026-11-27 16:33:25.137601');
INSERT INTO "trial" VALUES(4,'01a21dd9fee671e3949b6798718acaf7',1,'{"matmul": {"threads": {"m": 3, "n": 6, "k": 1}, "block": {"m": 8, "n": 16, "k": 32}, "innermost": {"m": 8, "n": 16, "k": 32}, "loop_order": "pmpnpkomonokiminik"}, "strategy": {"sg_layout": [1, 1], "prefetch": {"levels": "l1", "distance": 1, "l2_distance": 0, "layout_a": null, "layout_b": null, "hints": true, "payloads": true}, "grf_mode": 128, "slm": "none", "slm_stages": 0, "barrier_every": 0, "raster_group": 1, "split_k": "none", "pipelined_registers": true, "k_unroll": 2, "k_subgroups": 1, "workspace": "none"}}','3f751c6b2b2d116eff0b48b785ba3ffdd49953d99d4ea8534b753bb5023913ca','model','predicted',NULL,'simulator',18,18,4.470348358154296875e-08,1.5318393707275390625e-05,'elements',NULL,NULL,'01a21ddb096b7282bf4886303ce8ffbd',1.49451770400000896188e+01,0.0699451330001466,0.0,'2026-11-27 16:33:28.443752','2026-11-27 16:33:43.793014');
INSERT INTO "trial" VALUES(5,'01a21dd9fee671e3949b6798718acaf7',2,'{"matmul": {"threads": {"m": 1, "n": 1, "k": 1}, "block": {"m": 32, "n": 128, "k": 32}, "innermost": {"m": 32, "n": 16, "k": 32}, "loop_order": "pmpnpkomonokiminik"}, "strategy": {"sg_layout": [1, 8], "prefetch": {"levels": "l1", "distance": 1, "l2_distance": 0, "layout_a": [4, 2], "layout_b": [8, 1], "hints": true, "payloads": false}, "grf_mode": 256, "slm": "none", "slm_stages": 0, "barrier_every": 0, "raster_group": 1, "split_k": "none", "pipelined_registers": false, "k_unroll": 2, "k_subgroups": 1, "workspace": "none"}}','9f3bd97acec89e4311ab967c0959c3378508edc28892c18bc4525356a6d37a00','model','predicted',NULL,'simulator',1,1,4.470348358154296875e-08,1.5318393707275390625e-05,'elements',NULL,NULL,'01a21ddb0ad772258323d34c6b766f80',2.10317800019765854813e-03,1.91312463000031129922e-01,0.0,'2026-11-27 16:33:43.809596','2026-11-27 16:33:44.169140');
CREATE UNIQUE INDEX uq_api_key_name_in_use ON api_key (name) WHERE revoked_at IS NULL;
CREATE INDEX ix_idempotent_answer_expires_at ON idempotent_answer (expires_at);
CREATE INDEX ix_problem_m_n_k ON problem (m, n, k);
CREATE INDEX ix_record_tuner_id ON record (tuner, id);
CREATE INDEX ix_record_device_id ON record (device, id);
CREATE INDEX ix_record_problem_hash_device_id ON record (problem_hash, device, id);
CREATE INDEX ix_result_change_device_id_stamp ON result_change (device_id, stamp);
CREATE INDEX ix_schedule_next_due_at ON schedule (next_due_at);
CREATE INDEX ix_audit_event_action_id ON audit_event (action, id);
CREATE INDEX ix_audit_event_key_id_id ON audit_event (key_id, id);
CREATE UNIQUE INDEX uq_job_active_request ON job (request_hash) WHERE status IN ('queued', 'running') AND NOT cancel_requested;
CREATE INDEX ix_job_status_id ON job (status, id);
CREATE INDEX ix_job_created_at ON job (created_at);
CREATE INDEX ix_job_request_hash ON job (request_hash);
CREATE INDEX ix_job_retry_of ON job (retry_of);
CREATE INDEX ix_job_device_id_id ON job (device_id, id);
CREATE INDEX ix_job_problem_id_device_id ON job (problem_id, device_id);
CREATE INDEX ix_kernel_device_id_id ON kernel (device_id, id);
CREATE INDEX ix_kernel_problem_id_device_id ON kernel (problem_id, device_id);
CREATE INDEX ix_recording_device_id ON recording (device_id);
CREATE INDEX ix_recording_problem_id ON recording (problem_id);
CREATE UNIQUE INDEX uq_shape_set_active_request ON shape_set (request_hash) WHERE status = 'active';
CREATE INDEX ix_artifact_sha256 ON artifact (sha256);
CREATE INDEX ix_artifact_driver ON artifact (driver);
CREATE INDEX ix_trial_job_id_status ON trial (job_id, status);
CREATE INDEX ix_trial_kernel_id ON trial (kernel_id);
CREATE INDEX ix_reuse_source_trial_id ON reuse (source_trial_id);
CREATE INDEX ix_schedule_fire_job_job_id ON schedule_fire_job (job_id);
CREATE INDEX ix_prediction_error_measured_trial_id ON prediction_error (measured_trial_id);
CREATE INDEX ix_result_key_run ON result_key (run);
CREATE INDEX ix_result_key_key ON result_key ("key");
CREATE TRIGGER trial_update_changes AFTER UPDATE ON trial FOR EACH ROW WHEN NEW.status IN ('measured', 'predicted') OR OLD.status IN ('measured', 'predicted') BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT problem_id, device_id FROM job WHERE job.id = NEW.job_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT problem_id, device_id FROM job WHERE job.id = NEW.job_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER measurement_insert_changes AFTER INSERT ON measurement FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER measurement_update_changes AFTER UPDATE ON measurement FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER measurement_delete_changes AFTER DELETE ON measurement FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = OLD.trial_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = OLD.trial_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER prediction_insert_changes AFTER INSERT ON prediction FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER prediction_update_changes AFTER UPDATE ON prediction FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER prediction_delete_changes AFTER DELETE ON prediction FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = OLD.trial_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = OLD.trial_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER prediction_error_insert_changes AFTER INSERT ON prediction_error FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER prediction_error_update_changes AFTER UPDATE ON prediction_error FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER prediction_error_delete_changes AFTER DELETE ON prediction_error FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = OLD.trial_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = OLD.trial_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER reuse_insert_changes AFTER INSERT ON reuse FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER reuse_update_changes AFTER UPDATE ON reuse FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = NEW.trial_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER reuse_delete_changes AFTER DELETE ON reuse FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = OLD.trial_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = OLD.trial_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER job_update_changes AFTER UPDATE ON job FOR EACH ROW WHEN NEW.status IS NOT OLD.status OR NEW.best_trial_id IS NOT OLD.best_trial_id OR NEW.compared_default_us IS NOT OLD.compared_default_us OR NEW.compared_best_us IS NOT OLD.compared_best_us OR NEW.origin IS NOT OLD.origin BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT NEW.problem_id AS problem_id, NEW.device_id AS device_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT NEW.problem_id AS problem_id, NEW.device_id AS device_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER kernel_update_changes AFTER UPDATE ON kernel FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT NEW.problem_id AS problem_id, NEW.device_id AS device_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT NEW.problem_id AS problem_id, NEW.device_id AS device_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER artifact_insert_changes AFTER INSERT ON artifact FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT problem_id, device_id FROM kernel WHERE kernel.id = NEW.kernel_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT problem_id, device_id FROM kernel WHERE kernel.id = NEW.kernel_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER artifact_update_changes AFTER UPDATE ON artifact FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT problem_id, device_id FROM kernel WHERE kernel.id = NEW.kernel_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT problem_id, device_id FROM kernel WHERE kernel.id = NEW.kernel_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER artifact_delete_changes AFTER DELETE ON artifact FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM (SELECT problem_id, device_id FROM kernel WHERE kernel.id = OLD.kernel_id) AS of WHERE true ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; INSERT INTO result_change (problem_id, device_id, stamp) SELECT of.problem_id, of.device_id, change.stamp FROM (SELECT problem_id, device_id FROM kernel WHERE kernel.id = OLD.kernel_id) AS of JOIN change ON change.subject = 'device ' || of.device_id WHERE true ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp; END;
CREATE TRIGGER device_insert_changes AFTER INSERT ON device FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) VALUES ('device ' || NEW.id, 1) ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; END;
CREATE TRIGGER device_update_changes AFTER UPDATE ON device FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) VALUES ('device ' || NEW.id, 1) ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; END;
CREATE TRIGGER api_key_insert_changes AFTER INSERT ON api_key FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) VALUES ('keys', 1) ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; END;
CREATE TRIGGER api_key_update_changes AFTER UPDATE ON api_key FOR EACH ROW WHEN NEW.revoked_at IS NOT OLD.revoked_at OR NEW.expires_at IS NOT OLD.expires_at BEGIN INSERT INTO change (subject, stamp) VALUES ('keys', 1) ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; END;
CREATE TRIGGER api_key_delete_changes AFTER DELETE ON api_key FOR EACH ROW BEGIN INSERT INTO change (subject, stamp) VALUES ('keys', 1) ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1; END;
COMMIT;
