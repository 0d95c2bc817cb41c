package process_test

import (
	"slices"
	"testing"

	"devplatform/infra/process"
)

// TestCommand checks that a platform uses a model only if the options have it, not if the environment does.
func TestCommand(t *testing.T) {
	t.Setenv("AI_PROVIDER", "bedrock")
	for _, tc := range []struct {
		env  []string
		want string
	}{{nil, "AI_PROVIDER=scaffold"}, {[]string{"AI_PROVIDER=openai"}, "AI_PROVIDER=openai"}} {
		env := process.Command(process.Options{Dir: t.TempDir(), Env: tc.env}).Environ()
		if !slices.Contains(env, tc.want) || slices.Contains(env, "AI_PROVIDER=bedrock") {
			t.Errorf("%v: got the environment %v, want %s", tc.env, env, tc.want)
		}
	}
}
