// SPDX-License-Identifier: MIT OR Apache-2.0
//! Judge a bf16 block under the tensor-core contract, as a host program that runs a kernel would.
//!
//!     judge_block ACTUAL REFERENCE N K    two files of little-endian bf16 elements, N columns, K the reduction depth
//!     judge_block                         an A100's output, and the same kernel with the tail of K lost
//!
//! Exit: 0 PASS, 1 FAIL, 2 bad call, 3 UNPROVEN. Without files the second verdict is expected to be FAIL.

use lastbit::{m16, Format, Unit, Verdict};
use std::{env, error::Error, fs, process};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let code = match arguments.as_slice() {
        [] => demonstrate(),
        [actual, reference, n, k] => judge_files(actual, reference, n, k),
        _ => Err("usage: judge_block [ACTUAL REFERENCE N K]".into()),
    };
    process::exit(code.unwrap_or_else(|error| {
        eprintln!("judge_block: {error}");
        2
    }))
}

/// What the original comparison counts, and the verdict of the contract.
fn judge(actual: &[u8], reference: &[u8], n: usize, k: usize) -> lastbit::Result<lastbit::Record> {
    let diff = m16::compare_block(actual, reference, n, k);
    println!(
        "max_ulp={} over_budget={} over_ulp_only={} sign_flips={} rel_rms={:.3e} rms={:.3}",
        diff.max_ulp,
        diff.over_budget.len(),
        diff.over_ulp_only,
        diff.sign_flips,
        diff.rel_rms,
        diff.rms
    );
    if let Some(o) = diff.over_budget.first() {
        println!(
            "  first: row {}, column {}: {} against {}, {} ulp, floor {:.3e}",
            o.row,
            o.col,
            o.actual,
            o.reference,
            o.ulp,
            o.floor(k)
        );
    }
    let record = m16::grade(actual, reference, n, k)?;
    println!("{} {}", record.verdict(), record.reason());
    Ok(record)
}

fn judge_files(actual: &str, reference: &str, n: &str, k: &str) -> Result<i32, Box<dyn Error>> {
    let record = judge(&fs::read(actual)?, &fs::read(reference)?, n.parse()?, k.parse()?)?;
    Ok(record.exit_code())
}

fn demonstrate() -> Result<i32, Box<dyn Error>> {
    let (m, n, k) = (16, 256, 2000);
    let bf16 = Format::find("bf16")?;
    let unit = Unit::find("sm_80/mma.m16n8k16.f32.bf16.bf16.f32")?;
    let mut state = 0x0927_167c_2026u64;
    let mut draw = |count: usize| -> Vec<u16> {
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            let word = (state >> 32) as u32; // either sign, 2^-7 to 2
            (word & 0x807f) as u16 | ((120 + (word >> 16) % 8) << 7) as u16
        };
        (0..count).map(|_| next()).collect()
    };
    let (a, b) = (draw(m * k), draw(k * n)); // [m][k], [k][n]
    let to_bytes = |d: &[u32]| -> Vec<u8> {
        let round = |&code: &u32| bf16.encode(unit.d().decode(code.into())) as u16;
        d.iter().flat_map(|code| round(code).to_le_bytes()).collect()
    };
    let scalar: Vec<u32> = (0..m * n).map(|i| scalar_dot(&a[i / n * k..][..k], &b[i % n..], n).to_bits()).collect();
    let reference = to_bytes(&scalar);

    println!("the tensor core against the scalar GEMV");
    let tile: Vec<u32> = unit.gemm(&a, &b, None, m, n, k)?;
    let good = judge(&to_bytes(&tile), &reference, n, k)?;

    println!("the same, the last 8 of K lost");
    let mut short = a.clone();
    short.chunks_mut(k).for_each(|row| row[k - 8..].fill(0));
    let lost: Vec<u32> = unit.gemm(&short, &b, None, m, n, k)?;
    let bad = judge(&to_bytes(&lost), &reference, n, k)?;
    Ok(if good.passed() && bad.verdict() == Verdict::Fail { 0 } else { 1 })
}

/// One f32 sum in order of k; `row` is contiguous, `column` has `stride` elements from one k to the next.
fn scalar_dot(row: &[u16], column: &[u16], stride: usize) -> f32 {
    let value = |bits: u16| f32::from_bits(u32::from(bits) << 16);
    row.iter().zip(column.iter().step_by(stride)).fold(0.0, |sum, (&x, &y)| sum + value(x) * value(y))
}
