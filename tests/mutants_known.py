# SPDX-License-Identifier: BSD-3-Clause
"""Which tests a wrong change of a file meets, and which changes are none."""

LIMITS = ["test_limiter", "test_two_rows"]
SWEEPS = ["test_remesh_op", "test_splitting", "test_sweep_forms"]
MOTION = ["test_advection_op", "test_schemes", "test_interpolation", "test_velocity_series"]
COARSE = ["test_coarse_velocity", "test_coarse_ends", "test_coarse_strain"]
ENDS = ["test_boundaries", "test_boundary_laws", "test_inflow", "test_crossflow"]
FIELDS = ["test_field", "test_field_indexing", "test_field_transfers", "test_field_copies"]
RUNTIME = ["test_context", "test_devices", "test_errors", "test_program_cache", "test_loader"]
RUNS = ["test_splitting", "test_splitting_joints", "test_lcfl", "test_adaptive", "test_order4"]

# The first that matches.
AREAS: list[tuple[str, list[str]]] = [
    ("kernels/arrays/*.cl", ["test_arrays"]),
    ("kernels/limiter.cl", LIMITS),
    ("kernels/gather.cl", ["test_values"]),
    ("kernels/held.cl", ["test_values"]),
    ("kernels/diffusion*.cl", ["test_diffusion", "test_diffusion_transport"]),
    ("cpp/operators/diffusion*.cpp", ["test_diffusion", "test_diffusion_transport"]),
    ("kernels/limits.cl", [*LIMITS, "test_values"]),
    ("kernels/keep_edges.cl", ["test_lines", "test_sweep_forms", "test_values"]),
    ("kernels/cells.cl", [*SWEEPS, *MOTION, "test_values"]),
    ("kernels/sums.cl", [*LIMITS, *SWEEPS]),
    ("kernels/boundary.cl", [*ENDS, *SWEEPS]),
    ("kernels/ghosts.cl", ENDS),
    ("kernels/crossings.cl", ENDS),
    ("kernels/crossflow.cl", ["test_crossflow", "test_inflow"]),
    ("kernels/inflow.cl", ENDS),
    ("kernels/arrival.cl", [*ENDS, *COARSE, "test_values"]),
    ("kernels/continued.cl", [*ENDS, *COARSE]),
    ("kernels/cubic.cl", [*ENDS, *COARSE]),
    ("kernels/scheme.cl", MOTION),
    ("kernels/advect.cl", MOTION),
    (
        "kernels/motion_*.cl",
        [*MOTION, *ENDS, *COARSE, "test_forms"],
    ),
    ("kernels/interpolation.cl", ["test_interpolation"]),
    ("kernels/refine.cl", COARSE),
    ("kernels/strain.cl", ["test_lcfl", "test_adaptive"]),
    ("kernels/greatest.cl", ["test_lcfl", "test_errors"]),
    ("kernels/unsplit_*.cl", ["test_unsplit", "test_unsplit_runs"]),
    ("kernels/reduce.cl", ["test_reductions"]),
    ("kernels/summary.cl", ["test_reductions"]),
    ("kernels/copy.cl", [*FIELDS, "test_splitting"]),
    ("kernels/rows.cl", [*FIELDS, "test_reductions"]),
    ("kernels/numbers.cl", ["test_float16", "test_resample"]),
    ("kernels/source.cl", ["test_source"]),
    ("kernels/places.cl", ["test_source"]),
    ("kernels/rates.cl", ["test_source"]),
    ("kernels/resample.cl", ["test_resample"]),
    ("kernels/trigonometry.cl", ["test_trigonometry"]),
    ("kernels/sweep.cl", [*SWEEPS, *LIMITS, *ENDS, "test_forms"]),
    ("kernels/lines_along.cl", [*SWEEPS, *ENDS, "test_forms", "test_float16"]),
    ("kernels/carried.cl", [*SWEEPS, *LIMITS, *ENDS]),
    ("kernels/common.cl", [*SWEEPS, "test_float16", "test_forms"]),
    ("kernels/lines_across.cl", [*SWEEPS, "test_forms", "test_lines"]),
    ("kernels/*.cl", [*SWEEPS, "test_forms"]),
    (
        "cpp/operators/advection_op.?pp",
        ["test_velocity_series", "test_amplitudes", *MOTION, "test_lcfl", "test_adaptive"],
    ),
    ("cpp/operators/velocity.?pp", [*MOTION, "test_velocity", "test_interop", "test_forms"]),
    ("cpp/operators/crossflow.?pp", ["test_crossflow", "test_inflow"]),
    ("cpp/operators/refined.?pp", ["test_coarse_velocity"]),
    ("cpp/operators/splitting.?pp", [*RUNS, *ENDS, "test_sweep_forms"]),
    ("cpp/operators/schedule.?pp", RUNS),
    ("cpp/operators/source.?pp", ["test_source"]),
    ("cpp/operators/resample.?pp", ["test_resample"]),
    ("cpp/operators/plan.?pp", ["test_memory", "test_plans", *SWEEPS]),
    ("cpp/operators/form.?pp", ["test_forms", "test_plans"]),
    ("cpp/operators/unsplit.?pp", ["test_unsplit", "test_unsplit_runs"]),
    (
        "cpp/operators/lines.?pp",
        ["test_plans", "test_forms", *SWEEPS, *ENDS, *LIMITS, "test_memory"],
    ),
    ("cpp/operators/sweep.?pp", ["test_forms", *SWEEPS, *ENDS, *LIMITS]),
    ("cpp/operators/sweep_kind.?pp", ["test_forms", *SWEEPS, *LIMITS, "test_values", "test_lines"]),
    ("cpp/operators/*", [*SWEEPS, "test_forms", *ENDS, *LIMITS]),
    ("cpp/arrays/s*.?pp", ["test_arrays", "test_array"]),
    ("cpp/arrays/*", [*FIELDS, "test_arrays", "test_reductions", "test_interop", "test_float16"]),
    ("cpp/bindings/bind_arrays.cpp", ["test_arrays", "test_array"]),
    ("python/particles/array.py", ["test_array"]),
    ("cpp/fields/layout.?pp", ["test_field_memory", "test_core_errors", *FIELDS]),
    ("cpp/fields/field.?pp", ["test_field_memory", "test_resample", *FIELDS, "test_interop"]),
    ("cpp/fields/*", [*FIELDS, "test_reductions", "test_interop", "test_float16"]),
    ("cpp/opencl/image.?pp", ["test_forms", "test_interpolation", "test_kernel_files"]),
    (
        "cpp/opencl/*",
        [*RUNTIME, *FIELDS, "test_memory", "test_interop", "test_dlpack", "test_concurrency"],
    ),
    ("cpp/bindings/bind_operators.cpp", ["test_core_errors", *SWEEPS, *LIMITS]),
    ("cpp/bindings/bind_fields.cpp", ["test_core_errors", "test_dlpack", "test_interop", *FIELDS]),
    ("cpp/bindings/*", ["test_core_errors", *RUNTIME, *FIELDS, "test_splitting"]),
    (
        "python/particles/_expression*",
        ["test_velocity", "test_velocity_source", "test_velocity_errors"],
    ),
    ("python/particles/_amplitudes.py", ["test_amplitudes"]),
    ("python/particles/_intervals.py", ["test_intervals"]),
    ("python/particles/_tracing.py", ["test_velocity", "test_velocity_errors", "test_source"]),
    ("python/particles/_formula*", ["test_velocity", "test_velocity_errors"]),
    ("python/particles/_str*", ["test_lcfl", "test_adaptive", "test_watch", "test_tracer"]),
    ("python/particles/_account.py", ["test_tracer"]),
    ("python/particles/_report.py", ["test_tracer"]),
    ("python/particles/_ripple.py", ["test_tracer"]),
    (
        "python/particles/_velocity_limits.py",
        ["test_lcfl", "test_watch", "test_operator_errors", "test_velocity_bounds"],
    ),
    ("python/particles/_places.py", ["test_watch", "test_velocity_bounds"]),
    ("python/particles/_seen.py", ["test_watch", "test_reductions"]),
    ("python/particles/_step*", [*RUNS, "test_runs", "test_watch", "test_tracer"]),
    ("python/particles/_durations.py", ["test_adaptive", "test_runs", "test_splitting"]),
    ("python/particles/_alone.py", ["test_concurrency", "test_runs"]),
    ("python/particles/_orders.py", ["test_order4", "test_splitting_errors"]),
    ("python/particles/_parts.py", ["test_splitting_errors", "test_unsplit"]),
    ("python/particles/splitting.py", [*RUNS, "test_splitting_errors"]),
    ("python/particles/_stage.py", ["test_splitting"]),
    ("python/particles/_outflow.py", ["test_boundaries", "test_checkpoint"]),
    ("python/particles/_inflow.py", ["test_boundaries", "test_boundary_laws"]),
    ("python/particles/_advection_choices.py", ["test_operator_errors", "test_coarse_velocity"]),
    ("python/particles/advection.py", ["test_operator_errors", "test_advection_op"]),
    ("python/particles/remesh.py", ["test_operator_errors", "test_remesh_op"]),
    ("python/particles/positions.py", ["test_operator_errors", "test_advection_op"]),
    ("python/particles/_together.py", ["test_operator_errors", "test_source_errors"]),
    ("python/particles/*kernel*", ["test_kernels", "test_custom_kernels"]),
    ("python/particles/_poly*", ["test_kernels", "test_custom_kernels"]),
    ("python/particles/_checkpoint.py", ["test_checkpoint_kinds", "test_coarse_velocity"]),
    ("python/particles/_xdmf.py", ["test_io", "test_series_files"]),
    (
        "python/particles/_*file*.py",
        ["test_io", "test_series_files", "test_series_modes", "test_checkpoint"],
    ),
    ("python/particles/_series_layout.py", ["test_io", "test_series_files", "test_damaged_files"]),
    (
        "python/particles/_whole/*.py",
        ["test_whole_files", "test_series_files", "test_series_modes"],
    ),
    ("python/particles/_repair_command.py", ["test_repair_command"]),
    ("python/particles/_clock.py", ["test_clock", "test_runs"]),
    ("python/particles/_fixed.py", ["test_fixed"]),
    ("python/particles/_moves.py", ["test_moves", "test_velocity_bounds"]),
    ("python/particles/series.py", ["test_velocity_series", "test_series_files"]),
    ("python/particles/_npz.py", ["test_io"]),
    ("python/particles/_vtk.py", ["test_io"]),
    ("python/particles/_trans*", [*FIELDS, "test_watch", "test_xarray", "test_interop"]),
    ("python/particles/_memory.py", FIELDS),
    ("python/particles/_slicing.py", [*FIELDS, "test_xarray"]),
    ("python/particles/_interop.py", ["test_interop", "test_dlpack", "test_xarray"]),
    ("python/particles/_pyopencl.py", ["test_interop"]),
    ("python/particles/_xarray.py", ["test_xarray"]),
    ("python/particles/_xarray_series.py", ["test_xarray_series"]),
    ("python/particles/_reductions.py", ["test_reductions", "test_watch"]),
    (
        "python/particles/_check.py",
        ["test_grid", "test_field", "test_operator_errors", "test_advection_op", "test_float16"],
    ),
    ("python/particles/_cli.py", ["test_commands"]),
    ("python/particles/_cache.py", ["test_cache_command", "test_tuner", "test_toolchain"]),
    ("python/particles/_calls.py", ["test_runs", "test_run_state"]),
    ("python/particles/_profile.py", ["test_run_state", "test_context"]),
    ("python/particles/_[rc]a*", ["test_tuner", "test_race", "test_choice"]),
    ("python/particles/_repair.py", ["test_repair"]),
    ("python/particles/_trial.py", ["test_probe", "test_choice"]),
    ("python/particles/_tune_command.py", ["test_commands"]),
    ("python/particles/_tun*", ["test_tuner", "test_race"]),
    ("python/particles/_child.py", ["test_probe", "test_choice"]),
    ("python/particles/_*problem*", ["test_commands", "test_levelset"]),
    ("python/particles/_levelset*", ["test_levelset"]),
    ("python/particles/problems.py", ["test_commands"]),
    ("python/particles/_*command*", ["test_commands", "test_cache_command"]),
]

# For all other files.
GENERAL = ["test_operator_errors", "test_field", "test_splitting"]

# Text and pictures for people, and measurements.
LEFT_OUT = [
    "python/particles/plot*",
    "python/particles/_plot_*",
    "python/particles/_drawing.py",
    "python/particles/_*_pictures.py",
    "python/particles/_movie.py",
    "python/particles/_thumbnail.py",
    "python/particles/_markup.py",
    "python/particles/_progress.py",
    "python/particles/_bench*",
    "python/particles/_core.pyi",
    "cpp/opencl/triad.*",
    "kernels/triad.cl",
]

SPARE = (
    "Particles are looked for a node further away than kernels reach, in case a move is rounded."
)
MEETS = "What does not meet a box adds nothing to it: it decides about speed alone."
SPEED = "All segments and all forms give the same bits: it decides about speed alone."

# Changes that change nothing: by file, what is wrong with the reason.
EQUIVALENT: dict[str, dict[str, str]] = {
    "cpp/fields/layout.cpp": {
        "comparison: for (int64_t distance = pitch; distance < kPlanes * pitch; distance += pitch)": (
            "32 planes never are a power of two apart: they are odd numbers of vectors."
        ),
    },
    "cpp/arrays/boxes.cpp": {
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
    "cpp/opencl/buffer.cpp": {
        "ignored condition: bytes >= kWorthLargePages": "Large pages decide about speed alone.",
        "weight: if (slice_pitch == 0) slice_pitch = row_pitch / box.region[1];": (
            "Pitches are left at zero where there is one row alone."
        ),
        "dropped statement: context_->check_process();": (
            "What is filled has just been made, which checks that."
        ),
        "dropped statement: is_idle_ = true;": "Where nothing is under way, nothing is waited for.",
    },
    "cpp/operators/advection_op.cpp": {
        "comparison: if (interval.duration <= 0) std::reverse(joints.begin(), joints.end());": (
            "A push of no duration goes from a time to the same."
        ),
    },
    "cpp/operators/lines.cpp": {
        "weight: wanted = static_cast<int>(std::clamp<int64_t>(plan.nodes * all_lines / (tiles / "
        "plan.lanes),": SPEED,
        "axis: const bool is_last = axis == grid.ndim - 1, has_neighbours = plan.axes.outer >= 0;": (
            SPEED
        ),
        "off by one: constexpr int64_t kFewParticles = 2 << 14;": SPEED,
    },
    "cpp/operators/sweep.cpp": {
        "margin: const bool within = (reach - 1) < (group.plan.ends.periodic() ? nodes : "
        "kReachAtMost);": (
            "A line that wraps: what is replaced by all its nodes is as many. One with ends: moves are "
            "of less than 2**30 cells, so no reach is near the limit, a quarter beyond."
        ),
        "margin: arguments.push_back(within ? static_cast<cl_int>((reach - 1)) : nodes);  // for NaN "
        "as well": SPARE,
    },
    "cpp/operators/splitting.cpp": {
        "off by one: double cells = sweeps_[axis]->is_segmented() ? displace(axis, interval) : 1;": (
            "Particles are looked for a cell further away, where none is."
        ),
    },
    "kernels/arrays/sort.cl": {
        "comparison: for (int k = 1; k <= GROUP; k++) mine |= all[k];": (
            "Bits too many make passes in vain, and no other order."
        ),
        "off by one: passes[2] = 0;": "Of equal keys every digit is the same.",
        "off by one: #define DIGIT_BITS 9": "The host always says how many.",
    },
    "kernels/boundary.cl": {
        "ignored condition: (uint)i < (uint)n": (
            "The remainder of a node on the line is that node: no division is faster."
        ),
        "comparison: place = SELECT(place <= 0, -place, place);": "0 is -0.",
    },
    "kernels/source.cl": {
        "ignored condition: count == LANES": "Lanes one by one are what all of them at once are.",
    },
    "kernels/unsplit_deposit.cl": {
        "ignored condition: s->whole": "What is added in pieces is the same node by node.",
        "ignored condition: FIRST_AXIS < 2 && !may_reach(&box, 1, n[1], p1, p1, cells)": MEETS,
        "sign: if (!may_reach(&box, 2, n[2], begin, end + 1, cells)) continue;": MEETS,
        "dropped statement: p.meets &= (p.node[a] < (lane_int)box->count[a]) | (p.node[a] > "
        "(lane_int)(n[a] - STENCIL));": MEETS,
        "comparison: box.room = (end != n[2] ? (end + 15) / 16 * 16 : end) - box.first[2];": (
            "Boxes but the last end on whole vectors, where they have no more room; in the last one "
            "what has none is added node by node."
        ),
    },
    "kernels/unsplit_grid.cl": {
        "off by one: #define DIMENSIONS 4": "It is always told; a file that is built alone never runs.",
    },
    "kernels/lines_across.cl": {
        "margin: const int count = min(segment, n - t->first), near = min((reach - 1), count);": SPARE,
        "margin: for (int p = max(count - (reach - 1), near); p < count; p++)": SPARE,
    },
    "kernels/motion_formula.cl": {
        "off by one: Motion held_motion = {1,                                                       "
        "    \\": "It is aimed at a tile before it is used.",
    },
    "kernels/lines_along.cl": {
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
    "kernels/sweep.cl": {
        "margin: aim_motion(MOTION_ARGUMENT, &f.tile, &next, segment, (reach - 1));": (
            "Rows of the velocity that are not copied are read from where they are copied from."
        ),
    },
    "kernels/strain.cl": {
        "off by one: aim_motion(MOTION_ARGUMENT, &tile, &tile, segment, 1);": (
            "With vectors as many rows are copied, as their number is rounded up to whole ones: 8 + "
            "LANES or 9 + LANES, in LANES. Else one row more is copied, from where it would be read."
        ),
    },
    "python/particles/_race.py": {
        "axis: self._dt = CELLS * self._grid.spacing[0] / speed if speed > 0 else 1.0": SPEED,
    },
    "python/particles/_trial.py": {
        "off by one: steps: Array = 3 * np.floor(4 * x)": (
            "The device and NumPy carry the same field; any jumps will do."
        ),
        "sign: far: Array = np.sin(2.0**14 * x) - np.cos(2.0**14 * x)": (
            "The device and NumPy carry the same field; any that needs both will do."
        ),
    },
    "python/particles/_levelset_problem.py": {
        "sign: steps = math.ceil((time + now) * _STEPS_A_UNIT)": (
            "The exact solution takes more steps than it needs."
        ),
    },
    "python/particles/_candidates.py": {
        "weight: lines = problem.grid.size * problem.grid.shape[axis]": SPEED,
    },
}
