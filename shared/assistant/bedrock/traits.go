package bedrock

import (
	"slices"
	"strings"
)

// traits are features that some models accept and others reject.
type traits struct {
	// cacheSystem and cacheTools allow a cache point after the system prompt and after the tools. A model without this
	// feature returns an error: "extraneous key [cachePoint] is not permitted" or "your request did not allow prompt
	// caching".
	cacheSystem, cacheTools bool
	// failedStatus allows a tool's result to be marked as failed.
	failedStatus bool
}

// uncachedClaude are the Claude models without prompt caching. All newer models have it. 3.5 Sonnet v2 has it only for
// accounts that participated in a preview.
var uncachedClaude = []string{
	"claude-instant", "claude-v2", "claude-3-haiku", "claude-3-sonnet", "claude-3-opus", "claude-3-5-sonnet",
}

// traitsOf returns the traits of a model. id is the model's ARN, or its ID with or without the prefix of the region.
// Sources: the table of fields in "Prompt caching for faster model inference" in Bedrock's user guide, and
// ToolResultBlock in the API reference.
//
// The ARN of an application inference profile does not name its model. The model is assumed to cache, because
// without a cache the same prompt costs up to ten times as much. If the model rejects cache points, Generate retries
// without them, and does not send them again.
func traitsOf(id string) traits {
	id = strings.ToLower(id)
	has := func(part string) bool { return strings.Contains(id, part) }
	switch {
	case has("application-inference-profile/"):
		return traits{cacheSystem: true, cacheTools: true}
	case has("anthropic.claude-"):
		caches := !slices.ContainsFunc(uncachedClaude, has)
		return traits{cacheSystem: caches, cacheTools: caches, failedStatus: has("claude-3") || caches}
	case has("amazon.nova-"):
		return traits{cacheSystem: true, failedStatus: true}
	}
	return traits{}
}

func (t traits) caches() bool { return t.cacheSystem || t.cacheTools }

// withoutCache returns the traits of a model that has rejected cache points.
func (t traits) withoutCache() traits { return traits{failedStatus: t.failedStatus} }
