package runtime

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxEnvironment is Lambda's limit for the variables of a function, in bytes.
const maxEnvironment = 4 << 10

// reserved are the variables that Lambda sets and a configuration may not:
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html.
var reserved = []string{
	"_HANDLER", "_X_AMZN_TRACE_ID", "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_EXECUTION_ENV",
	"AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_VERSION",
	"AWS_LAMBDA_INITIALIZATION_TYPE", "AWS_LAMBDA_LOG_GROUP_NAME", "AWS_LAMBDA_LOG_STREAM_NAME",
	"AWS_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
	"AWS_LAMBDA_RUNTIME_API", "AWS_LAMBDA_METADATA_API", "LAMBDA_TASK_ROOT", "LAMBDA_RUNTIME_DIR",
}

// memoryPerCPU is how much memory, in MB, buys a function one virtual CPU:
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html.
const memoryPerCPU = 1769

// checkEnvironment refuses what Lambda refuses when a function is configured.
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
		return fmt.Errorf("the environment has %d bytes, Lambda's limit is %d", size, maxEnvironment)
	}
	return nil
}

// environment is everything that all instances of the function see: the platform's own environment
// is no part of it. The rest is the instance's: see instance.environment.
func (p *pool) environment() []string {
	o, f := &p.rt.opts, &p.function
	env := map[string]string{
		"LANG": "en_US.UTF-8",
		"TZ":   ":UTC",
		"PATH": "/usr/local/bin:/usr/bin/:/bin:/opt/bin",
		// Instances that each think the whole machine theirs wake one another's threads without end.
		"GOMAXPROCS": strconv.Itoa((f.MemoryMB + memoryPerCPU - 1) / memoryPerCPU),
	}
	for name, value := range f.Env {
		env[name] = value
	}
	if f.LateEnv != nil {
		for name, value := range f.LateEnv() {
			env[name] = value
		}
	}
	for name, value := range o.ExtraEnv {
		env[name] = value
	}
	own := map[string]string{
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
	}
	// As documented, the variable is not there for OS-only runtimes.
	if !strings.HasPrefix(f.RuntimeName, "provided") {
		own["AWS_EXECUTION_ENV"] = "AWS_Lambda_" + f.RuntimeName
	}
	for name, value := range own {
		if value == "" { // a session token of permanent credentials
			delete(env, name)
			continue
		}
		env[name] = value
	}
	list := make([]string, 0, len(env)+2)
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

func (p *pool) logGroup() string { return "/aws/lambda/" + p.function.Name }

// environment adds what differs between instances.
func (i *instance) environment() []string {
	stream := i.started.UTC().Format("2006/01/02") + "/[" + latest + "]" + newHex(16)
	return append(slices.Clip(i.pool.env()),
		"AWS_LAMBDA_RUNTIME_API="+i.address,
		"AWS_LAMBDA_LOG_STREAM_NAME="+stream)
}
