// SPDX-License-Identifier: MIT OR Apache-2.0
//! Matrix instructions.

use crate::error::{Error, Result};
use crate::format::Format;
use crate::mat::{check_width, Code, Mat};
use crate::raw::{self, Addend, UnitRow};
use lastbit_sys as c;
use std::fmt;

/// One matrix instruction of one architecture, as an integer model that gives the bits hardware gives.
///
/// ```
/// use lastbit::Unit;
/// let unit = Unit::find("sm_80/mma.m16n8k16.f32.f16.f16.f32")?;
/// let (a, b) = ([0x3c00u16; 2 * 3], [0x4000u16; 3 * 4]); // ones [2][3], twos [3][4]
/// let d: Vec<u32> = unit.gemm(&a, &b, None, 2, 4, 3)?;
/// assert_eq!(d, [6.0f32.to_bits(); 8]);
/// # Ok::<(), lastbit::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Unit(pub(crate) UnitRow);

/// How a product is run. The bits do not depend on it.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct GemmOptions {
    /// Name of a kernel of [`Kernel::rows`]; None for the fastest that can.
    pub kernel: Option<String>,
    /// Threads to use; 0 for as many as OpenMP decides.
    pub threads: usize,
}

impl GemmOptions {
    /// With this kernel, as a test that compares kernels wants it.
    pub fn kernel(mut self, name: &str) -> Self {
        self.kernel = Some(name.into());
        self
    }

    /// With this many threads.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }
}

/// One way to run a product, fastest first; the last one, "engine", runs every unit on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    /// What [`GemmOptions::kernel`] takes.
    pub name: &'static str,
    /// What it needs and what it runs.
    pub note: &'static str,
    /// Whether this CPU can.
    pub usable: bool,
}

impl Kernel {
    /// Every kernel.
    pub fn rows() -> impl Iterator<Item = Kernel> {
        (0..).map_while(|i| raw::kernel_row(i).map(|(name, note, usable)| Kernel { name, note, usable }))
    }
}

impl Unit {
    /// The unit of a canonical name ("sm_80/mma.m16n8k16.f32.f16.f16.f32") or of a full PTX spelling.
    ///
    /// # Errors
    /// [`Status::Name`](crate::Status), naming the nearest.
    pub fn find(name: &str) -> Result<Self> {
        raw::unit_find(name).map(Unit)
    }

    /// Every unit, in the table's order; those of which nothing is known too ([`Unit::is_open`]).
    pub fn rows() -> impl Iterator<Item = Unit> {
        (0..).map_while(|i| raw::unit_row(i).map(Unit))
    }

    /// Canonical name.
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// Shape (m, n, k) of one instruction; a K step of a product is k.
    pub fn shape(&self) -> (usize, usize, usize) {
        (self.0.m.into(), self.0.n.into(), self.0.k.into())
    }

    /// Format of A.
    pub fn a(&self) -> Format {
        Format::of(self.0.a)
    }

    /// Format of B.
    pub fn b(&self) -> Format {
        Format::of(self.0.b)
    }

    /// Format of C.
    pub fn c(&self) -> Format {
        Format::of(self.0.c)
    }

    /// Format of D.
    pub fn d(&self) -> Format {
        Format::of(self.0.d)
    }

    /// How it is known: "recorded", "stated", "inferred", "open".
    pub fn evidence(&self) -> &'static str {
        raw::evidence_name(self.0.evidence)
    }

    /// Keys in docs/sources.md.
    pub fn source(&self) -> &'static str {
        self.0.texts()[0]
    }

    /// What the evidence covers.
    pub fn note(&self) -> &'static str {
        self.0.texts()[1]
    }

    /// Edges that no recording settles, and the choice taken; keys in docs/open-edges.md.
    pub fn open_edges(&self) -> &'static str {
        self.0.texts()[2]
    }

    /// Whether nobody knows what it computes: it then runs nothing.
    pub fn is_open(&self) -> bool {
        self.0.path == c::LB_PATH_NONE
    }

    /// `d = c + sum a[i] * b[i]` over one K step. Codes are right-aligned in `u32`, whatever their format; products that are missing
    /// are zeros. Bit-exact by definition: this is the specification.
    ///
    /// # Errors
    /// `Status::Shape` if a and b differ in length or have more than k codes, `Status::Unavailable` for an open unit.
    pub fn dot(&self, a: &[u32], b: &[u32], c: u32) -> Result<u32> {
        if a.len() != b.len() {
            return Err(Error::shape(&self.name(), format!("a has {} codes and b has {}", a.len(), b.len())));
        }
        self.0.dot(a, b, c)
    }

    /// D = A B + C in the unit's own K steps, ascending; K is padded with zeros to a multiple of k.
    ///
    /// Shapes: `a[m][k]`, `b[k][n]`, `c[m][n]` or None for +0; the result is `[m][n]`; all row-major. Each element type is as wide as
    /// the unit's format. Bit-exact: each element equals the chain of [`Unit::dot`].
    ///
    /// # Errors
    /// `Status::Shape` where a slice has another length, `Status::Format` where its codes have another width, `Status::Unavailable` for
    /// an open unit, `Status::Memory`.
    pub fn gemm<A: Code, B: Code, T: Code>(
        &self,
        a: &[A],
        b: &[B],
        c: Option<&[T]>,
        m: usize,
        n: usize,
        k: usize,
    ) -> Result<Vec<T>> {
        let a = Mat::named("A", self.a(), a, m, k)?;
        let b = Mat::named("B", self.b(), b, k, n)?;
        let c = c.map(|codes| Mat::named("C", self.c(), codes, m, n)).transpose()?;
        check_width::<T>("D", self.d())?;
        let mut d = Vec::new();
        let count = m.checked_mul(n).ok_or_else(|| Error::shape("D", format!("{m}x{n} is too large")))?;
        d.try_reserve_exact(count).map_err(|e| Error::new(c::LB_E_MEMORY, "D", format!("{m}x{n} codes: {e}")))?;
        d.resize(count, T::default());
        self.gemm_into(&a, &b, c.as_ref(), &mut d, &GemmOptions::default())?;
        Ok(d)
    }

    /// [`Unit::gemm`] over views of any strides, into `d[m][n]`, row-major. On an error d is as it was.
    ///
    /// ```
    /// # use lastbit::{GemmOptions, Mat, Unit};
    /// let unit = Unit::find("sm_90/mma.m16n8k16.f32.bf16.bf16.f32")?;
    /// let activations = [0x3f80u16; 16 * 64]; // ones [m][k]
    /// let weights = [0x3f00u16; 8 * 64]; // halves, stored [n][k]
    /// let (a, b) = (Mat::new(unit.a(), &activations, 16, 64)?, Mat::new(unit.b(), &weights, 8, 64)?.transposed());
    /// let mut d = [0u32; 16 * 8];
    /// unit.gemm_into(&a, &b, None, &mut d, &GemmOptions::default())?;
    /// assert_eq!(d, [32.0f32.to_bits(); 16 * 8]);
    /// # Ok::<(), lastbit::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Unit::gemm`]; `Status::Name` and `Status::Unavailable` for a kernel that is not there or cannot run this.
    pub fn gemm_into<T: Code>(&self, a: &Mat, b: &Mat, c: Option<&Mat>, d: &mut [T], options: &GemmOptions) -> Result<()> {
        self.run(a, b, c.map_or(Addend::Zero, Addend::Mat), d, options)
    }

    /// D = A B + D, in place: [`Unit::gemm_into`] with what `d` holds as C.
    ///
    /// # Errors
    /// As [`Unit::gemm_into`]; `Status::Format` where the unit's C and D are of two formats.
    pub fn gemm_add<T: Code>(&self, a: &Mat, b: &Mat, d: &mut [T], options: &GemmOptions) -> Result<()> {
        self.run(a, b, Addend::Output, d, options)
    }

    fn run<T: Code>(&self, a: &Mat, b: &Mat, addend: Addend, d: &mut [T], options: &GemmOptions) -> Result<()> {
        check_width::<T>("D", self.d())?;
        if a.rows().checked_mul(b.cols()) != Some(d.len()) {
            let message = format!("D has {} codes; A and B make {}x{}", d.len(), a.rows(), b.cols());
            return Err(Error::shape("D", message));
        }
        self.0.gemm(a, b, addend, d, options.kernel.as_deref(), options.threads)
    }
}

impl fmt::Debug for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Unit({})", self.name())
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}
