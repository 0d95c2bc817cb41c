package runtime

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// memoryPerCPU is the memory, in MB, for which a function gets one virtual CPU:
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html.
const memoryPerCPU = 1769

// environment returns the variables that all instances of the function have. The environment of the platform itself is
// not included. instance.environment adds the variables that differ between instances.
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
		"AWS_LAMBDA_LOG_GROUP_NAME":       "/aws/lambda/" + f.Name,
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

func (i *instance) environment() []string {
	stream := i.started.UTC().Format("2006/01/02") + "/[" + latest + "]" + strings.ReplaceAll(uuid.NewString(), "-", "")
	return append(slices.Clip(i.pool.env()),
		"AWS_LAMBDA_RUNTIME_API="+i.address,
		"AWS_LAMBDA_LOG_STREAM_NAME="+stream)
}
