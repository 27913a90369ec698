# SPDX-License-Identifier: BSD-3-Clause
"""Which tests a wrong change of a file meets, and which changes are none."""

LIMITS = ["test_limiter", "test_two_rows"]
SWEEPS = ["test_remesh_op", "test_splitting", "test_sweep_forms"]
MOTION = ["test_advection_op", "test_schemes", "test_interpolation", "test_velocity_series"]
COARSE = ["test_coarse_velocity", "test_coarse_ends", "test_coarse_strain"]
ENDS = ["test_boundaries", "test_boundary_laws", "test_inflow", "test_crossflow"]
FIELDS = ["test_field", "test_field_indexing", "test_field_transfers", "test_field_copies"]
RUNTIME = [
    *("test_context", "test_launch", "test_queue", "test_devices", "test_errors"),
    *("test_program_cache", "test_loader"),
]
BETWEEN = ["test_particles_and_grid", "test_particle_set"]
RUNS = ["test_splitting", "test_splitting_joints", "test_lcfl", "test_adaptive", "test_order4"]

# The first that matches.
AREAS: list[tuple[str, list[str]]] = [
    ("kernels/sweep/limiter.cl", LIMITS),
    ("kernels/sweep/walk*.cl", [*SWEEPS, *LIMITS, *ENDS, "test_float16"]),
    ("kernels/sweep/team.cl", [*SWEEPS, *LIMITS, *ENDS]),
    ("kernels/sweep/chain.cl", ["test_chain"]),
    ("cpp/sweep/sweep_chain.?pp", ["test_chain"]),
    ("cpp/sweep/crossings.?pp", [*ENDS, "test_chain"]),
    ("kernels/sweep/gather.cl", ["test_values", "test_chain"]),
    ("kernels/sweep/saved_lines.cl", ["test_values"]),
    ("kernels/operators/diffusion*.cl", ["test_diffusion", "test_diffusion_transport"]),
    ("cpp/operators/diffusion*.cpp", ["test_diffusion", "test_diffusion_transport"]),
    ("kernels/sweep/limiter_kinds.cl", [*LIMITS, "test_values"]),
    ("kernels/sweep/keep_edges.cl", ["test_lines", "test_sweep_forms", "test_values"]),
    ("kernels/lines/shifts.cl", [*SWEEPS, *MOTION, "test_values"]),
    ("kernels/sweep/sums.cl", [*LIMITS, *SWEEPS]),
    ("kernels/lines/boundary.cl", [*ENDS, *SWEEPS]),
    ("kernels/sweep/swept.cl", [*ENDS, *SWEEPS]),
    ("kernels/motion/crossflow.cl", ["test_crossflow", "test_inflow", "test_chain"]),
    ("kernels/generated/inflow.cl", ENDS),
    ("kernels/sweep/arrival.cl", [*ENDS, *COARSE, "test_values"]),
    ("kernels/motion/continued.cl", [*ENDS, *COARSE]),
    ("kernels/motion/cubic.cl", [*ENDS, *COARSE]),
    ("kernels/motion/scheme.cl", MOTION),
    ("kernels/generated/scheme.cl", MOTION),
    ("kernels/motion/advect.cl", MOTION),
    ("kernels/motion/farthest.cl", ["test_sweep_forms", "test_chain", "test_divided_grids"]),
    (
        "kernels/motion/motion_*.cl",
        [*MOTION, *ENDS, *COARSE, "test_forms", "test_ranks"],
    ),
    ("kernels/motion/interpolation.cl", ["test_interpolation"]),
    ("kernels/motion/refine.cl", COARSE),
    ("kernels/motion/strain.cl", ["test_lcfl", "test_adaptive", "test_walls"]),
    ("kernels/motion/maxima.cl", ["test_lcfl", "test_errors"]),
    ("kernels/stepping/trace*.cl", ["test_tracers"]),
    ("kernels/stepping/unsplit_*.cl", ["test_unsplit", "test_unsplit_runs"]),
    ("kernels/stepping/vectors.cl", ["test_unsplit", "test_tracers"]),
    ("kernels/arrays/reduce.cl", ["test_reductions"]),
    ("kernels/arrays/summary.cl", ["test_reductions"]),
    ("kernels/arrays/copy.cl", [*FIELDS, "test_splitting"]),
    ("kernels/arrays/*.cl", ["test_arrays", "test_reductions", "test_array_forms"]),
    ("kernels/sets/*.cl", ["test_particle_set", "test_particles_and_grid", "test_tracers"]),
    ("kernels/interpolation/*.cl", [*BETWEEN, "test_divided_grids"]),
    ("kernels/common/regions.cl", [*FIELDS, "test_reductions"]),
    ("kernels/common/mixed_reads.cl", ["test_float16", "test_resample"]),
    ("kernels/operators/source.cl", ["test_source"]),
    ("kernels/generated/source_fields.cl", ["test_source"]),
    ("kernels/generated/rates.cl", ["test_source"]),
    ("kernels/operators/resample.cl", ["test_resample"]),
    ("kernels/common/trigonometry.cl", ["test_trigonometry"]),
    ("kernels/sweep/sweep.cl", [*SWEEPS, *LIMITS, *ENDS, "test_forms"]),
    ("kernels/sweep/strengths.cl", [*SWEEPS, *LIMITS, *ENDS]),
    ("kernels/common/common.cl", [*SWEEPS, "test_float16", "test_forms"]),
    ("kernels/lines/lines.cl", [*SWEEPS, *ENDS, "test_forms", "test_float16", "test_lines"]),
    ("kernels/*/*.cl", [*SWEEPS, "test_forms"]),
    ("cpp/motion/advection_op.?pp", MOTION),
    ("cpp/motion/extremes.?pp", ["test_velocity_series", "test_amplitudes", "test_lcfl"]),
    ("cpp/motion/judgement.?pp", ["test_looks", "test_lcfl", "test_walls", "test_velocity_series"]),
    ("cpp/motion/amplitudes.?pp", ["test_amplitudes"]),
    ("cpp/motion/time_formula.?pp", ["test_amplitudes"]),
    ("cpp/motion/partial_maxima.?pp", ["test_lcfl", "test_adaptive", "test_unsplit_runs"]),
    ("cpp/motion/measured.hpp", ["test_looks", "test_lcfl", "test_amplitudes"]),
    ("cpp/motion/flow.?pp", [*MOTION, "test_adaptive", "test_coarse_velocity"]),
    ("cpp/motion/scheme.?pp", ["test_schemes"]),
    ("cpp/motion/velocity.?pp", [*MOTION, "test_velocity", "test_splitting"]),
    ("cpp/motion/motion*.?pp", [*MOTION, "test_velocity", "test_pyopencl_arrays", "test_forms"]),
    ("cpp/motion/crossflow.?pp", ["test_crossflow", "test_inflow", "test_chain"]),
    ("cpp/motion/refined.?pp", ["test_coarse_velocity"]),
    ("cpp/stepping/splitting.?pp", [*RUNS, *ENDS, "test_sweep_forms"]),
    ("cpp/stepping/schedule.?pp", RUNS),
    (
        "cpp/stepping/gauge.?pp",
        ["test_gauges", "test_lcfl", "test_adaptive", "test_unsplit_runs", "test_tracers"],
    ),
    ("cpp/stepping/reach.?pp", [*ENDS, "test_lines", "test_amplitudes", "test_sweep_forms"]),
    ("cpp/operators/source.?pp", ["test_source"]),
    ("cpp/operators/resample.?pp", ["test_resample"]),
    ("cpp/stepping/forecast.?pp", ["test_memory", "test_dry", *SWEEPS]),
    ("cpp/lines/form.?pp", ["test_forms", "test_dry"]),
    ("cpp/stepping/unsplit.?pp", ["test_unsplit", "test_unsplit_runs"]),
    ("cpp/stepping/vectors.?pp", ["test_unsplit", "test_tracers"]),
    ("cpp/stepping/flow_arguments.?pp", ["test_unsplit", "test_tracers"]),
    (
        "cpp/lines/lines.?pp",
        ["test_dry", "test_forms", *SWEEPS, *ENDS, *LIMITS, "test_memory"],
    ),
    ("cpp/sweep/sweep.?pp", ["test_forms", *SWEEPS, *ENDS, *LIMITS, "test_ranks"]),
    ("cpp/sweep/sweep_kind.?pp", ["test_forms", *SWEEPS, *LIMITS, "test_values", "test_lines"]),
    ("cpp/operators/*", [*SWEEPS, "test_forms", *ENDS, *LIMITS]),
    ("cpp/arrays/exact_sum.?pp", ["test_exact_sum"]),
    ("cpp/fields/extended.?pp", ["test_ranks"]),
    ("cpp/fields/field.hpp", ["test_reductions", "test_field_memory", *FIELDS, "test_ranks"]),
    ("python/particles/communication/cuts.py", ["test_cuts"]),
    ("python/particles/communication/mates.py", ["test_several_devices"]),
    ("python/particles/communication/*", ["test_ranks"]),
    ("python/particles/fields/several.py", ["test_several_devices"]),
    ("python/particles/fields/speeds.py", ["test_several_devices"]),
    ("python/particles/runtime/crew.py", ["test_crew", "test_several_devices"]),
    ("python/particles/runtime/device_group.py", ["test_several_devices"]),
    ("python/particles/fields/neighbours.py", ["test_ranks"]),
    ("python/particles/fields/parts_of_whole.py", ["test_ranks", "test_files"]),
    ("python/particles/fields/grid.py", ["test_grid", "test_ranks", "test_several_devices"]),
    ("python/particles/stepping/planes_of_flow.py", ["test_divided_tracers"]),
    ("python/particles/interpolation/parts.py", ["test_divided_grids", *BETWEEN]),
    ("cpp/arrays/s*.?pp", ["test_arrays", "test_array"]),
    (
        "cpp/arrays/*",
        [*FIELDS, "test_arrays", "test_reductions", "test_pyopencl_arrays", "test_float16"],
    ),
    ("cpp/bindings/bind_arrays.cpp", ["test_arrays", "test_array"]),
    ("cpp/stepping/tracers.?pp", ["test_tracers"]),
    ("cpp/interpolation/*", [*BETWEEN, "test_divided_grids"]),
    ("cpp/bindings/bind_interpolation.cpp", BETWEEN),
    ("cpp/sets/*", BETWEEN),
    ("cpp/bindings/bind_sets.cpp", ["test_particle_set"]),
    ("python/particles/interpolation/*.py", BETWEEN),
    (
        "python/particles/stepping/part_of_tracers.py",
        ["test_divided_tracers", "test_several_devices"],
    ),
    (
        "python/particles/stepping/tracers.py",
        ["test_tracers", "test_divided_tracers", "test_several_devices"],
    ),
    ("python/particles/io/*sets.py", ["test_sets_in_files", "test_old_files"]),
    ("python/particles/sets/several.py", ["test_several_devices"]),
    ("python/particles/sets/*.py", ["test_particle_set"]),
    ("python/particles/arrays/array.py", ["test_array"]),
    ("cpp/fields/layout.?pp", ["test_field_memory", "test_core_errors", *FIELDS]),
    (
        "cpp/fields/field.?pp",
        ["test_field_memory", "test_resample", *FIELDS, "test_pyopencl_arrays"],
    ),
    ("cpp/fields/*", [*FIELDS, "test_reductions", "test_pyopencl_arrays", "test_float16"]),
    ("cpp/runtime/image.?pp", ["test_forms", "test_interpolation", "test_kernel_files"]),
    (
        "cpp/runtime/*",
        [
            *RUNTIME,
            *FIELDS,
            "test_memory",
            "test_pyopencl_arrays",
            "test_dlpack",
            "test_concurrency",
            "test_faults",
        ],
    ),
    ("cpp/bindings/bind_operators.cpp", ["test_core_errors", *SWEEPS, *LIMITS]),
    (
        "cpp/bindings/bind_fields.cpp",
        ["test_core_errors", "test_dlpack", "test_pyopencl_arrays", *FIELDS, "test_ranks"],
    ),
    ("cpp/bindings/*", ["test_core_errors", *RUNTIME, *FIELDS, "test_splitting"]),
    (
        "python/particles/formulas/expression*",
        ["test_velocity", "test_velocity_source", "test_velocity_errors"],
    ),
    ("python/particles/operators/amplitudes.py", ["test_amplitudes"]),
    ("python/particles/operators/speed_bounds.py", ["test_amplitudes", "test_gauges"]),
    ("python/particles/formulas/bounds.py", ["test_bounds"]),
    (
        "python/particles/formulas/tracing.py",
        ["test_velocity", "test_velocity_errors", "test_source"],
    ),
    ("python/particles/formulas/parser.py", ["test_velocity", "test_velocity_errors"]),
    (
        "python/particles/stepping/gauges.py",
        ["test_gauges", "test_lcfl", "test_adaptive", "test_unsplit_runs", "test_walls"],
    ),
    ("python/particles/stepping/report.py", ["test_tracer"]),
    ("python/particles/kernels/ripple.py", ["test_tracer"]),
    (
        "python/particles/operators/limits.py",
        [
            *("test_lcfl", "test_adaptive", "test_finiteness", "test_tracer", "test_looks"),
            *("test_operator_errors", "test_velocity_bounds", "test_walls"),
        ],
    ),
    ("python/particles/fields/spots.py", ["test_finiteness", "test_velocity_bounds", "test_walls"]),
    ("python/particles/arrays/check_on_read.py", ["test_finiteness", "test_reductions"]),
    (
        "python/particles/stepping/stepper.py",
        [*RUNS, "test_runs", "test_finiteness", "test_tracer"],
    ),
    (
        "python/particles/stepping/transport.py",
        [*RUNS, "test_gauges", "test_adaptive", "test_runs", "test_finiteness", "test_tracer"],
    ),
    ("python/particles/operators/form.py", ["test_forms", "test_operator_errors"]),
    ("python/particles/arrays/overlap.py", ["test_overlapping_memory"]),
    ("python/particles/arrays/pyopencl_memory.py", ["test_pyopencl_arrays"]),
    ("python/particles/arrays/transfers.py", ["test_array", "test_field_transfers"]),
    ("python/particles/base/disk.py", ["test_whole_files", "test_regular_files"]),
    ("python/particles/base/frames.py", ["test_lcfl", "test_tracer"]),
    ("python/particles/base/kinds.py", ["test_hostile_inputs", "test_keywords"]),
    ("python/particles/formulas/printing.py", ["test_velocity", "test_source"]),
    ("python/particles/io/contents.py", ["test_checkpoint", "test_io"]),
    ("python/particles/io/series_reading.py", ["test_series_modes", "test_xarray_series"]),
    ("python/particles/runtime/device.py", ["test_devices", "test_context"]),
    ("python/particles/runtime/drivers.py", ["test_choice", "test_devices"]),
    (
        "python/particles/stepping/runs.py",
        ["test_adaptive", "test_runs", "test_run_state", "test_splitting"],
    ),
    ("python/particles/base/guards.py", ["test_guards", "test_concurrency", "test_runs"]),
    (
        "python/particles/stepping/schedule.py",
        ["test_order4", "test_splitting_errors", "test_splitting"],
    ),
    ("python/particles/stepping/operands.py", ["test_splitting_errors", "test_unsplit"]),
    ("python/particles/stepping/splitting.py", [*RUNS, "test_splitting_errors"]),
    ("python/particles/stepping/outflow.py", ["test_boundaries", "test_checkpoint"]),
    ("python/particles/operators/inflow.py", ["test_boundaries", "test_boundary_laws"]),
    (
        "python/particles/operators/flow.py",
        ["test_operator_errors", "test_coarse_velocity"],
    ),
    ("python/particles/operators/advection.py", ["test_operator_errors", "test_advection_op"]),
    ("python/particles/operators/remesh.py", ["test_operator_errors", "test_remesh_op"]),
    ("python/particles/operators/positions.py", ["test_operator_errors", "test_advection_op"]),
    ("python/particles/fields/alike.py", ["test_operator_errors", "test_source_errors"]),
    ("python/particles/kernels/*", ["test_kernels", "test_custom_kernels"]),
    ("python/particles/io/checkpoints.py", ["test_checkpoint_kinds", "test_old_files"]),
    ("python/particles/io/checkpoints_1.py", ["test_old_files"]),
    ("python/particles/formulas/opencl.py", ["test_formula_arithmetic", "test_velocity"]),
    ("python/particles/formulas/evaluation.py", ["test_formula_arithmetic", "test_bounds"]),
    ("python/particles/formulas/records.py", ["test_meaning", "test_old_files"]),
    ("python/particles/io/xdmf.py", ["test_io", "test_series_files"]),
    (
        "python/particles/io/series.py",
        ["test_io", "test_series_files", "test_series_modes", "test_checkpoint"],
    ),
    (
        "python/particles/io/series_layout.py",
        ["test_io", "test_series_files", "test_damaged_files"],
    ),
    (
        "python/particles/io/atomic/*.py",
        ["test_whole_files", "test_series_files", "test_series_modes"],
    ),
    ("python/particles/cli/repair.py", ["test_repair_command"]),
    ("python/particles/operators/time_resolution.py", ["test_time_resolution", "test_runs"]),
    (
        "python/particles/operators/velocity_series.py",
        ["test_velocity_series", "test_series_files"],
    ),
    ("python/particles/io/npz.py", ["test_io"]),
    ("python/particles/io/vtk.py", ["test_io"]),
    (
        "python/particles/fields/transfers.py",
        [*FIELDS, "test_finiteness", "test_xarray", "test_pyopencl_arrays"],
    ),
    ("python/particles/stepping/forecast.py", FIELDS),
    ("python/particles/arrays/slicing.py", [*FIELDS, "test_xarray"]),
    (
        "python/particles/fields/pyopencl_arrays.py",
        ["test_pyopencl_arrays", "test_dlpack", "test_xarray"],
    ),
    ("python/particles/base/pyopencl_objects.py", ["test_pyopencl_arrays", "test_loader"]),
    ("python/particles/fields/data_arrays.py", ["test_xarray"]),
    ("python/particles/io/xarray_series.py", ["test_xarray_series"]),
    ("python/particles/fields/reductions.py", ["test_reductions", "test_finiteness"]),
    (
        "python/particles/base/checks.py",
        ["test_grid", "test_field", "test_operator_errors", "test_advection_op", "test_float16"],
    ),
    ("python/particles/cli/main.py", ["test_commands"]),
    ("python/particles/runtime/cache.py", ["test_cache_command", "test_tuner", "test_linker"]),
    ("python/particles/runtime/profile.py", ["test_run_state", "test_context"]),
    ("python/particles/tuning/[rc]a*", ["test_tuner", "test_race", "test_choice"]),
    ("python/particles/runtime/processor_name.py", ["test_processor_name"]),
    ("python/particles/trials/driver_trial.py", ["test_driver_trial", "test_choice"]),
    ("python/particles/cli/tune.py", ["test_commands"]),
    ("python/particles/tuning/*", ["test_tuner", "test_race"]),
    ("python/particles/runtime/child.py", ["test_driver_trial", "test_choice"]),
    ("python/particles/problems/*", ["test_problems", "test_commands", "test_levelset"]),
    ("python/particles/levelset/*", ["test_levelset"]),
    ("python/particles/cli/*", ["test_commands", "test_cache_command"]),
]

# For all other files.
GENERAL = ["test_operator_errors", "test_field", "test_splitting"]

# Text and pictures for people, and measurements.
LEFT_OUT = [
    "python/particles/plot/*",
    "python/particles/problems/*pictures.py",
    "python/particles/base/markup.py",
    "python/particles/base/progress.py",
    "python/particles/cli/bench*",
    "python/particles/_core.pyi",
    "cpp/runtime/bandwidth.*",
    "kernels/runtime/bandwidth.cl",
]

SPARE = (
    "Particles are looked for a node further away than kernels reach, in case a move is rounded."
)
BITS = "Bits too many, be it those of keys elsewhere, make passes in vain, and no other order."
COPIED = "Rows of the velocity that are not copied are read from where they are copied from."
BEHIND = "One number more is put behind an array of a work-item's own, where nobody reads it."
BEYOND = "Node 0 is on the line: nobody asks for what is beyond an end there."
ITSELF = "A node differs from itself by nothing, whatever that is multiplied by."
TILES = "All tiles give the same bits: it decides about speed alone."
SPEED = "All segments and all forms give the same bits: it decides about speed alone."

# Changes that change nothing: by file, what is wrong with the reason.
EQUIVALENT: dict[str, dict[str, str]] = {
    "cpp/fields/layout.cpp": {
        "comparison: for (int64_t distance = pitch; distance < kPlanes * pitch; distance += pitch)": (
            "32 planes never are a power of two apart: they are odd numbers of vectors."
        ),
    },
    "cpp/arrays/regions.cpp": {
        "limit: const auto groups = static_cast<size_t>(std::max(jobs, most));": (
            "Groups share the jobs, however many groups there are: it decides about speed alone."
        ),
        "off by one: const bool one = region.count[a] == 1, other = region.count[b] == 2;": (
            "In any order of the axes elements go where they belong: it decides about speed alone."
        ),
        "wrap: const bool regular = slices.stride - rows.stride == 0;": (
            "Slices that need not go one by one do: it decides about speed alone."
        ),
    },
    "cpp/runtime/buffer.cpp": {
        "ignored condition: bytes >= kWorthLargePages": "Large pages decide about speed alone.",
        "weight: if (slice_pitch == 0) slice_pitch = row_pitch / rectangle.region[1];": (
            "Pitches are left at zero where there is one row alone."
        ),
        "dropped statement: context_->check_process();": (
            "What is filled has just been made, which checks that."
        ),
        "dropped statement: is_idle_ = true;": "Where nothing is under way, nothing is waited for.",
    },
    "python/particles/sets/particle_set.py": {
        "off by one: columns=columns, order=key, has_starts=has_starts, version=old.version + 2": (
            "Versions are told from each other, whatever numbers they are."
        ),
    },
    "cpp/motion/velocity.cpp": {
        "comparison: if (interval.duration <= 0) std::reverse(joints.begin(), joints.end());": (
            "A push of no duration goes from a time to the same."
        ),
    },
    "cpp/lines/lines.cpp": {
        "weight: wanted = static_cast<int>(std::clamp<int64_t>(particles / (tiles / task.lanes),": (
            SPEED
        ),
        "axis: bool has_neighbours() const { return axes.outer >= 0; }": SPEED,
        "off by one: constexpr int64_t kFewParticles = 2 << 14;": SPEED,
    },
    "cpp/sweep/sweep_kind.cpp": {
        "comparison: return cells <= kReachAtMost ? static_cast<int64_t>(cells) : -1;  // for NaN as "
        "well": (
            "Moves are of less than 2**30 cells, so no reach is near the limit, a quarter beyond."
        ),
    },
    "cpp/sweep/sweep.cpp": {
        "margin: const bool within = reach >= 0 && (!group.plan.ends.periodic() || (reach - 1) < "
        "nodes);": "What is replaced by all nodes of a line that wraps is as many.",
        'margin: launch.int32("reach", within ? (reach - 1) : nodes);': SPARE,
    },
    "kernels/arrays/sort.cl": {
        "comparison: for (int k = 1; k <= GROUP; k++) mine |= all[k];": BITS,
        "off by one: KEY mine = 1;": BITS,
        "sign: for (long i = share.first - (long)get_local_id(0); i < share.last; i += GROUP)": BITS,
        "comparison: for (long i = share.first + (long)get_local_id(0); i <= share.last; i += GROUP)": (
            BITS
        ),
        "off by one: passes[2] = 0;": "Of equal keys every digit is the same.",
        "off by one: #define DIGIT_BITS 9": "The host always says how many.",
    },
    "cpp/operators/diffusion_rounds.cpp": {
        "margin: period_ = 2 * std::ceil((reach - 1) / 2) + 1;": (
            "What comes from a node further is as little."
        ),
        "ignored condition: ends.periodic()": (
            "A greater spread of a line that has come to rest changes nothing."
        ),
    },
    "kernels/operators/diffusion.cl": {
        f"comparison: for (int m = (round)->taps; m >= 0; m--) {{{23 * ' '}\\": ITSELF,
    },
    "kernels/operators/diffusion_held.cl": {
        "comparison: for (int m = round->taps; m >= 0; m--) {": ITSELF,
    },
    "kernels/lines/boundary.cl": {
        "ignored condition: (uint)i < (uint)n": (
            "The remainder of a node on the line is that node: no division is faster."
        ),
        "comparison: place = SELECT(place <= 0, -place, place);": "0 is -0.",
    },
    "kernels/operators/source.cl": {
        "ignored condition: count == LANES": "Lanes one by one are what all of them at once are.",
    },
    "cpp/interpolation/interpolation.cpp": {
        "ignored condition: !count": "A kernel that has no particles does nothing.",
        "limit: for (int64_t parts1 = fewest1; parts1 <= std::max(fewest1, std::max(points1, tiles_at_most));": TILES,
        "logic: for (int64_t parts0 = 1; parts0 == 1 && (parts0 <= points0 && parts0 * parts1 <= tiles_at_most);": TILES,
        "weight: static_cast<double>(ceiling(ceiling(points0, tile0) / ceiling(points1, tile1), units()));": TILES,
        "off by one: if (axes[0] < 1 && axes[1] < 0) {": "A grid with a first of three axes has the second.",
    },
    "kernels/interpolation/particles_to_grid.cl": {
        "ignored condition: stands_for(own, k, along)": (
            "A window of what stands for no point of the tile is added to nothing."
        ),
    },
    "kernels/interpolation/particles_to_tile.cl": {
        "off by one: for (int j = 0; j < WEIGHTS_ALONG(3); j++) {": (
            "What is not axis 0 or 1 is taken for axis 2."
        ),
        "off by one: points[POINTS_ABOVE] = points_of_kind((int)points2, has_above ? BEYOND_HIGH : 1,": (
            "Sums of what stands for no point of the tile are added to nothing."
        ),
    },
    "kernels/sets/rows.cl": {
        "ignored condition: rows_of(cells + i, count, cells_of_line, found)": (
            "Particles one by one are what all of them at once are."
        ),
        "ignored condition: rows_of(cells, count, cells_of_line, found)": (
            "Particles one by one are what all of them at once are."
        ),
        "ignored condition: count == LOOKED_AT": "The last of 16 particles is itself.",
    },
    "kernels/stepping/unsplit_grid.cl": {
        "off by one: #define DIMENSIONS 4": "It is always told; a file that is built alone never runs.",
    },
    "kernels/motion/refine.cl": {
        "comparison: for (int k = 0; k <= CUBIC_PLACES; k++) near[k] = READ(start_of(a, node < 0 ? k : last - k)); \\": (
            BEHIND
        ),
        "comparison: for (int k = 0; k < CUBIC_PLACES; k++) near[k] = READ(start_of(a, node <= 0 ? k : last - k)); \\": (
            BEYOND
        ),
        "off by one: for (int k = 0; k < CUBIC_PLACES; k++) near[k] = READ(start_of(a, node < 1 ? k : last - k)); \\": (
            BEYOND
        ),
        "comparison: (at)[j] = value_of(&through, (real)(node <= 0 ? node : last - node));                         \\": (
            BEYOND
        ),
        "off by one: (at)[j] = value_of(&through, (real)(node < 1 ? node : last - node));                         \\": (
            BEYOND
        ),
    },
    "kernels/sweep/chain.cl": {
        "comparison: for (int j = 0; j <= LANES; j++) block[j] = LOAD(c->side_by_side[k] + (first + j) * LANES);": (
            BEHIND
        ),
    },
    "kernels/motion/motion_formula.cl": {
        "off by one: Motion held_motion = {1,                                       "
        "                       \\": "It is aimed at a tile before it is used.",
    },
    "kernels/lines/lines.cl": {
        "margin: const int count = min(segment, n - t->first), near = min((reach - 1), count);": SPARE,
        "logic: if ((begin < 0 && end < 0) && (begin >= n && end >= n)) {": (
            "Lanes one by one are what all of them at once are."
        ),
        "margin: const int count = min(segment, n - t->first[j]), near = min((reach - 1), count);": (
            SPARE
        ),
        "margin: for (int p = max(count - (reach - 1), near); p < count; p++)": SPARE,
        "ignored condition: t->live == LANES && t->greatest_first + first < n": (
            "Lanes one by one are what all of them at once are."
        ),
    },
    "kernels/sweep/sweep.cl": {
        "margin: aim_motion(MOTION_ARGUMENT, &f.tile, &next, OWN_ROWS(f.tile, grid), (reach - 1));": COPIED,
    },
    "kernels/sweep/walk.cl": {
        "margin: aim_motion(MOTION_ARGUMENT, &f.tile, &next, OWN_ROWS(f.tile, grid), (reach - 1));": COPIED,
    },
    "kernels/motion/advect.cl": {
        "margin: aim_motion(MOTION_ARGUMENT, &tile, &tile, segment, (reach - 1));": COPIED,
    },
    "cpp/motion/advection_op.cpp": {
        'margin: launch.int32("reach", (reach - 1));': COPIED,
    },
    "python/particles/formulas/printing.py": {
        "off by one: ATOM = 6": "Nothing binds more tightly than negative numbers, at 4.",
    },
    "kernels/arrays/reduce_along.cl": {
        "off by one: const long item = get_local_id(0), items = get_local_size(1);": (
            "Work-items of a group make the numbers of the same lines: it decides about speed alone."
        ),
    },
    "kernels/operators/diffusion_segments.cl": {
        "weight: return IS_SAME_SEGMENT(grid) ? (lines + LANES - 1) * LANES * segments_of(grid) : "
        "tiles_of(grid);": "What is behind the last tile is the last line again, of which nothing is written.",
    },
    "kernels/motion/strain.cl": {
        "off by one: aim_motion(MOTION_ARGUMENT, &tile, &tile, OWN_ROWS(tile, grid), 1);": (
            "With vectors as many rows are copied, as their number is rounded up to whole ones: 8 + "
            "LANES or 9 + LANES, in LANES. Else one row more is copied, from where it would be read."
        ),
    },
    "python/particles/tuning/race.py": {
        "axis: self._dt = CELLS * self._grid.spacing[0] / speed if speed > 0 else 1.0": SPEED,
    },
    "python/particles/trials/driver_trial.py": {
        "off by one: steps: Array = 3 * np.floor(4 * x)": (
            "The device and NumPy carry the same field; any jumps will do."
        ),
        "sign: far: Array = np.sin(2.0**14 * x) - np.cos(2.0**14 * x)": (
            "The device and NumPy carry the same field; any that needs both will do."
        ),
    },
    "python/particles/levelset/problem.py": {
        "sign: steps = math.ceil((time + now) * _STEPS_A_UNIT)": (
            "The exact solution takes more steps than it needs."
        ),
    },
    "python/particles/tuning/candidates.py": {
        "weight: lines = task.grid.size * task.grid.shape[axis]": SPEED,
    },
}
