// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds liblastbit: in the folder `LASTBIT_LIB_DIR` (of a build, or an installation's lib), by pkg-config, or by building
//! the tree that this crate lies in. Linked statically where there is a static library, unless `LASTBIT_SHARED` is set: a
//! program then runs without a search path. Tells dependents the folder of the headers as `DEP_LASTBIT_INCLUDE`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    for name in ["LASTBIT_LIB_DIR", "LASTBIT_SHARED", "PKG_CONFIG_PATH", "PKG_CONFIG"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let folder = match env::var_os("LASTBIT_LIB_DIR") {
        Some(folder) => {
            let folder = PathBuf::from(folder);
            assert!(folder.is_absolute(), "LASTBIT_LIB_DIR is {}: give the whole path, from /", folder.display());
            assert!(
                has_library(&folder),
                "LASTBIT_LIB_DIR is {}, where there is no liblastbit.a and no liblastbit.so",
                folder.display()
            );
            folder
        }
        None => installed().unwrap_or_else(built_here),
    };
    // An absolute path: the linker runs in another folder.
    let folder = folder.canonicalize().expect("the folder was just looked into");
    link(&folder);
    let include = headers(&folder);
    println!("cargo:include={}", include.display());
    println!("cargo:rustc-env=LASTBIT_INCLUDE={}", include.display());
}

fn has_library(folder: &Path) -> bool {
    ["liblastbit.a", "liblastbit.so", "liblastbit.dylib"].iter().any(|name| folder.join(name).exists())
}

/// What pkg-config answers, in words; None if it is not there or says no.
fn pkg_config(arguments: &[&str]) -> Option<Vec<String>> {
    let tool = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
    let answer = Command::new(tool).args(arguments).output().ok()?;
    let text = String::from_utf8(answer.stdout).ok()?;
    answer.status.success().then(|| text.split_whitespace().map(String::from).collect())
}

/// While the major version is 0, a minor version may change anything: only this crate's own will do.
fn installed() -> Option<PathBuf> {
    let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
    let next = minor.parse::<u32>().expect("cargo's own figure") + 1;
    let (least, beyond) = (format!("lastbit >= {major}.{minor}"), format!("lastbit < {major}.{next}"));
    pkg_config(&["--exists", &least, &beyond])?;
    let folder = PathBuf::from(pkg_config(&["--variable=libdir", "lastbit"])?.join(" "));
    has_library(&folder).then_some(folder)
}

fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn run(command: &mut Command) {
    let ended = command.status().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(ended.success(), "{command:?}: {ended}");
}

/// The static library alone, built into OUT_DIR.
fn built_here() -> PathBuf {
    let tree = tree();
    assert!(
        tree.join("include/lastbit/base.h").exists(),
        "no liblastbit: set LASTBIT_LIB_DIR to the folder that it lies in, or install it where pkg-config finds it"
    );
    assert!(
        env::var_os("TARGET") == env::var_os("HOST"),
        "liblastbit is not cross-compiled from here: build it, and set LASTBIT_LIB_DIR"
    );
    for part in ["src", "include", "cmake", "CMakeLists.txt"] {
        println!("cargo:rerun-if-changed={}", tree.join(part).display());
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("c");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&tree).arg("-B").arg(&folder);
    configure.args(["-DCMAKE_BUILD_TYPE=Release", "-DLB_TESTS=OFF", "-DLB_WERROR=OFF"]);
    let has_ninja = Command::new("ninja").arg("--version").output().is_ok();
    if env::var_os("CMAKE_GENERATOR").is_none() && has_ninja {
        configure.args(["-G", "Ninja"]);
    }
    run(&mut configure);
    run(Command::new("cmake").arg("--build").arg(&folder).args(["--target", "lastbit_static", "--parallel"]));
    folder
}

fn link(folder: &Path) {
    println!("cargo:rustc-link-search=native={}", folder.display());
    let archive = folder.join("liblastbit.a");
    let shared = ["liblastbit.so", "liblastbit.dylib"].iter().any(|name| folder.join(name).exists());
    if shared && (env::var_os("LASTBIT_SHARED").is_some() || !archive.exists()) {
        println!("cargo:rustc-link-lib=dylib=lastbit");
        return;
    }
    println!("cargo:rerun-if-changed={}", archive.display());
    println!("cargo:rustc-link-lib=static=lastbit");
    let description = ["lastbit.pc", "pkgconfig/lastbit.pc"].iter().find_map(|name| fs::read_to_string(folder.join(name)).ok());
    for word in private_libraries(&description.unwrap_or_else(|| "Requires.private: jansson\nLibs.private: -lm\n".into())) {
        if let Some(name) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={name}");
        } else if let Some(path) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={path}");
        } else if word == "-fopenmp" {
            println!("cargo:rustc-link-lib=dylib=gomp");
        } else if word == "-pthread" {
            println!("cargo:rustc-link-lib=dylib=pthread");
        } else if let (Some(path), Some(name)) = (Path::new(&word).parent(), library_name(Path::new(&word))) {
            println!("cargo:rustc-link-search=native={}", path.display());
            println!("cargo:rustc-link-lib=dylib={name}");
        }
    }
}

/// "jansson" of "/usr/lib/libjansson.so".
fn library_name(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.strip_prefix("lib")
}

/// What a static liblastbit is linked with: Libs.private of its lastbit.pc, and what pkg-config says of Requires.private.
fn private_libraries(description: &str) -> Vec<String> {
    let field = |name: &str| {
        let line = description.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or("").replace(',', " ").split_whitespace().map(String::from).collect::<Vec<_>>()
    };
    let mut words = Vec::new();
    for package in field("Requires.private:") {
        words.extend(pkg_config(&["--libs", &package]).unwrap_or_else(|| vec![format!("-l{package}")]));
    }
    words.extend(field("Libs.private:"));
    words
}

/// The headers that belong to the library: of the tree that was built in this folder, of the installation, or of this tree.
fn headers(folder: &Path) -> PathBuf {
    let cache = fs::read_to_string(folder.join("CMakeCache.txt")).unwrap_or_default();
    let home = cache.lines().find_map(|line| line.strip_prefix("CMAKE_HOME_DIRECTORY:INTERNAL=")).map(PathBuf::from);
    let candidates = home.into_iter().chain(folder.ancestors().skip(1).take(2).map(PathBuf::from)).chain([tree()]);
    candidates.map(|root| root.join("include")).find(|include| include.join("lastbit/base.h").exists()).unwrap_or_default()
}
