// commands.h - one function a command; main.c has the table.
#ifndef NPUFUSE_COMMANDS_H
#define NPUFUSE_COMMANDS_H

#include "cli/options.h"

// Each takes the arguments behind its name and returns an ExitCode.
int scan_command(const Args *args);
int confirm_command(const Args *args);
int apply_command(const Args *args);
int capture_command(const Args *args);
int unit_command(const Args *args);
int verify_command(const Args *args);
int resume_command(const Args *args);
int status_command(const Args *args);
int steps_command(const Args *args);
int merge_command(const Args *args);
int doctor_command(const Args *args);
int report_command(const Args *args);
int api_command(const Args *args);
int lint_command(const Args *args);
int dump_command(const Args *args);
int profile_command(const Args *args);
int rules_command(const Args *args);

#endif
