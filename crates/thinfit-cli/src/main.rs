//! The program `thinfit`.

fn main() -> std::process::ExitCode {
    thinfit_cli::run(std::env::args_os().collect()).into()
}
