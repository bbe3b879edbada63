/* jit_env.c - see jit_env.h. Each runtime reads its own variable and no other's, so all are set: the
 * command may be a script that starts any of them.
 *
 * node writes its map as it goes. Its option for functions that are not compiled yet gives each of
 * them code of its own, so that they are told apart; neither costs anything that can be measured.
 * Java writes the map when it ends; that its code keeps frame pointers makes its stacks whole. A Java
 * that does not know an option must not fail for it. */
#include "run/jit_env.h"

#include <stdio.h>
#include <stdlib.h>

struct jit_variable {
    const char *name;
    const char *value;
    bool is_list; /* of options, to which ours are added */
};

static const struct jit_variable variables[] = {
    {"NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack", true},
    {"JAVA_TOOL_OPTIONS",
     "-XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit "
     "-XX:+PreserveFramePointer",
     true},
    {"PYTHONPERFSUPPORT", "1", false},
    {"DOTNET_PerfMapEnabled", "1", false},
    {"ERL_FLAGS", "+JPperf true", true},
};

static bool variable_set(const struct jit_variable *variable)
{
    const char *before = variable->is_list ? getenv(variable->name) : NULL;
    if (before == NULL || before[0] == '\0')
        return setenv(variable->name, variable->value, 1) == 0;
    char *joined;
    if (asprintf(&joined, "%s %s", before, variable->value) < 0)
        return false;
    bool ok = setenv(variable->name, joined, 1) == 0;
    free(joined);
    return ok;
}

bool jit_env_set(void)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if (!variable_set(&variables[i]))
            return false;
    return true;
}
