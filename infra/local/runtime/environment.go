package runtime

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// maxEnvironment is Lambda's limit for the variables of a function, in bytes.
const maxEnvironment = 4 << 10

// reserved are the variables that only Lambda sets:
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html.
var reserved = []string{
	"_HANDLER", "_X_AMZN_TRACE_ID", "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_EXECUTION_ENV",
	"AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_VERSION",
	"AWS_LAMBDA_INITIALIZATION_TYPE", "AWS_LAMBDA_LOG_GROUP_NAME", "AWS_LAMBDA_LOG_STREAM_NAME",
	"AWS_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
	"AWS_LAMBDA_RUNTIME_API", "AWS_LAMBDA_METADATA_API", "LAMBDA_TASK_ROOT", "LAMBDA_RUNTIME_DIR",
}

// memoryPerCPU is the memory, in MB, for which a function gets one virtual CPU:
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html.
const memoryPerCPU = 1769

// checkEnvironment returns an error if Lambda does not accept the variables of a function.
func checkEnvironment(env map[string]string) error {
	var taken []string
	size := 0
	for name, value := range env {
		size += len(name) + len(value)
		if slices.Contains(reserved, name) {
			taken = append(taken, name)
		}
	}
	if len(taken) > 0 {
		slices.Sort(taken)
		return fmt.Errorf("the environment contains reserved keys: %s", strings.Join(taken, ", "))
	}
	if size > maxEnvironment {
		return fmt.Errorf("the variables have %d bytes, Lambda's limit is %d", size, maxEnvironment)
	}
	return nil
}

// environment returns the variables that all instances of the function have. The environment of the platform itself is
// not included. instance.environment adds those that differ between instances.
func (p *pool) environment() []string {
	o, f := &p.rt.opts, &p.function
	env := map[string]string{
		"LANG": "en_US.UTF-8",
		"TZ":   ":UTC",
		"PATH": "/usr/local/bin:/usr/bin/:/bin:/opt/bin",
		// Instances that each use all processors wake one another's threads all the time.
		"GOMAXPROCS": strconv.Itoa((f.MemoryMB + memoryPerCPU - 1) / memoryPerCPU),
	}
	maps.Copy(env, f.Env)
	if f.LateEnv != nil {
		maps.Copy(env, f.LateEnv())
	}
	maps.Copy(env, o.ExtraEnv)
	maps.Copy(env, map[string]string{
		"_HANDLER":                        f.Handler,
		"AWS_REGION":                      o.Region,
		"AWS_DEFAULT_REGION":              o.Region,
		"AWS_ACCESS_KEY_ID":               o.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY":           o.SecretKey,
		"AWS_SESSION_TOKEN":               o.SessionToken,
		"AWS_LAMBDA_FUNCTION_NAME":        f.Name,
		"AWS_LAMBDA_FUNCTION_VERSION":     latest,
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.MemoryMB),
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME":       p.logGroup(),
		"LAMBDA_TASK_ROOT":                filepath.Dir(f.Bootstrap),
		"LAMBDA_RUNTIME_DIR":              "/var/runtime",
	})
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"} {
		if env[name] == "" { // permanent credentials have no session token
			delete(env, name)
		}
	}
	list := make([]string, 0, len(env)+2)
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

func (p *pool) logGroup() string { return "/aws/lambda/" + p.function.Name }

func (i *instance) environment() []string {
	stream := i.started.UTC().Format("2006/01/02") + "/[" + latest + "]" + strings.ReplaceAll(uuid.NewString(), "-", "")
	return append(slices.Clip(i.pool.env()),
		"AWS_LAMBDA_RUNTIME_API="+i.address,
		"AWS_LAMBDA_LOG_STREAM_NAME="+stream)
}
