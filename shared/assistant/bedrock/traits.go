package bedrock

import (
	"slices"
	"strings"
)

// traits are what a model takes that others refuse.
type traits struct {
	// cacheSystem and cacheTools: a cache point may stand behind the system prompt, and behind the tools. Where it may not, the call
	// fails: "extraneous key [cachePoint] is not permitted", or "your request did not allow prompt caching".
	cacheSystem, cacheTools bool
	// status: a tool's result may be marked as failed, beside what its text says.
	status bool
}

// uncachedClaude are the models of Claude that are older than prompt caching. The list is closed: newer ones all have it. (Some
// accounts have it for 3.5 Sonnet's second version, since a preview; new ones don't.)
var uncachedClaude = []string{"claude-instant", "claude-v2", "claude-3-haiku", "claude-3-sonnet", "claude-3-opus", "claude-3-5-sonnet"}

// traitsOf tells them by the model's id, with or without the region's prefix, or by its ARN. Sources: Bedrock's user guide, "Prompt
// caching for faster model inference", whose table has the fields that take a cache point (Claude: system, messages and tools; Nova:
// system and messages), and the API reference, ToolResultBlock.
//
// An application inference profile's ARN says nothing of the model behind it. It is taken for one that caches: without a cache the
// same prompt costs up to ten times as much, and if the model refuses, Generate asks again without, and remembers.
func traitsOf(id string) traits {
	id = strings.ToLower(id)
	has := func(part string) bool { return strings.Contains(id, part) }
	switch {
	case has("application-inference-profile/"):
		return traits{cacheSystem: true, cacheTools: true}
	case has("anthropic.claude-"):
		caches := !slices.ContainsFunc(uncachedClaude, has)
		return traits{cacheSystem: caches, cacheTools: caches, status: has("claude-3") || caches}
	case has("amazon.nova-"):
		return traits{cacheSystem: true, status: true}
	}
	return traits{}
}

func (t traits) cached() bool { return t.cacheSystem || t.cacheTools }
