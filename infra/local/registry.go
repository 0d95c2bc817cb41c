package main

import (
	"context"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"devplatform/infra/local/stack"
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

// hasRegistry reports whether the environment chooses a registry. An empty value chooses none.
func hasRegistry(env map[string]string) bool {
	_, isSet := env[npmRegistry]
	return isSet
}

// needsRegistry reports whether a function uses a registry, and the template does not choose one.
func needsRegistry(env map[string]string) bool {
	value, declared := env[npmRegistry]
	return declared && value == ""
}

// lateEnv returns the variables of a function that are not known when the platform starts. registry is nil if the
// environment chooses one.
func lateEnv(env map[string]string, registry func() string) func() map[string]string {
	if registry == nil || !needsRegistry(env) {
		return nil
	}
	return func() map[string]string { return map[string]string{npmRegistry: registry()} }
}

// startRegistry asks npm for its registry in the background, so that the first function that needs it does not wait.
func (p *platform) startRegistry() {
	if p.settings.Registry != nil && slices.ContainsFunc(p.stack.Functions, func(f stack.Function) bool { return needsRegistry(f.Env) }) {
		go p.settings.Registry()
	}
}
