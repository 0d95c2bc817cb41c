package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"devplatform/infra/local/resources"
)

// ollama is the usual address of Ollama, a server of language models with an API that is compatible with OpenAI's.
const ollama = "http://127.0.0.1:11434/v1"

// probeTime is the timeout of the request to the server. The request runs while the platform starts.
const probeTime = 300 * time.Millisecond

// modelName matches the names that a shell does not interpret.
var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$`)

// probeModels asks a server for its models, in the background. The result is the name of a model. It is "" if the
// server has no model. The channel is closed without a result if no server responds within the timeout.
func probeModels(ctx context.Context, base string, timeout time.Duration) <-chan string {
	result := make(chan string, 1)
	go func() {
		defer close(result)
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", nil)
		if err != nil {
			return
		}
		response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
		if err != nil {
			return
		}
		defer response.Body.Close() //nolint:errcheck // the body was read
		var models struct {
			Object string
			Data   []struct{ ID string }
		}
		err = json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&models)
		if err != nil || response.StatusCode != http.StatusOK || models.Object != "list" {
			return
		}
		name := ""
		for _, m := range models.Data {
			if name == "" && modelName.MatchString(m.ID) && !strings.Contains(m.ID, "embed") {
				name = m.ID
			}
		}
		result <- name
	}()
	return result
}

// modelHint returns the lines about the assistant's model. It returns "" if no function uses the built-in generator.
func modelHint(functions []resources.Function, models <-chan string) string {
	if !slices.ContainsFunc(functions, func(f resources.Function) bool { return f.Env["AI_PROVIDER"] == "scaffold" }) {
		return ""
	}
	name, found := <-models
	switch {
	case !found:
		return "assistant: built-in generator, not a language model\n\n"
	case name == "":
		name = "qwen3-coder  (first run: ollama pull qwen3-coder)"
	}
	return fmt.Sprintf("assistant: built-in generator. A server of language models responds on this machine. To use it,\n"+
		"stop the platform, and start it with:\n  AI_PROVIDER=openai\n  AI_MODEL=%s\n  OPENAI_BASE_URL=%s\n\n", name, ollama)
}
