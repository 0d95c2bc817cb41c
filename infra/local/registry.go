package main

import (
	"context"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// registryTime limits the command that asks npm for its registry. It usually takes 0.3 s, and longer on a busy machine.
const registryTime = 20 * time.Second

// npmRegistry is the variable of the functions that need an npm registry.
const npmRegistry = "NPM_REGISTRY"

// findRegistry returns a function that returns the npm registry of this machine: npm's own variable, or the setting of
// npm, or "" if npm is not installed. It asks npm once, at the first call. ctx limits the command.
func findRegistry(ctx context.Context, env map[string]string) func() string {
	return sync.OnceValue(func() string {
		for _, name := range []string{"npm_config_registry", "NPM_CONFIG_REGISTRY"} {
			if value := env[name]; value != "" {
				return value
			}
		}
		ctx, cancel := context.WithTimeout(ctx, registryTime)
		defer cancel()
		output, err := exec.CommandContext(ctx, "npm", "config", "get", "registry").Output()
		if err != nil {
			return ""
		}
		registry := strings.TrimSpace(string(output))
		if u, err := url.Parse(registry); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return ""
		}
		return registry
	})
}
