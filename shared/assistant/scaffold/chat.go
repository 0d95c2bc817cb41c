package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"devplatform/shared/assistant/scaffold/blueprint"
)

// conversation is an answer to a message about a project as it comes into being.
type conversation struct {
	facts facts
	words []word
	// framework is what the whole message says, for requests that say nothing; other one that there is none for.
	framework blueprint.Framework
	other     string
	steps     []step
	said      []string
	notes     []string
	looked    map[string]bool
	// last is what was made last, for "a test for it".
	last *made
	// build makes a thing; a test looks over its shoulder.
	build func(blueprint.Spec) (blueprint.Result, error)
	// asked is that the framework that is not known was told of.
	asked bool
}

// made is a thing that was made.
type made struct {
	spec   blueprint.Spec
	path   string
	before []string // the project's paths before it
	files  []blueprint.File
}

const (
	maxIntents = 20
	disclaimer = "(From the built-in templates; no language model was asked.)"
)

// newConversation begins an answer.
func newConversation(f facts) *conversation {
	c := &conversation{facts: f, words: wordsOf(f.Prompt), looked: map[string]bool{}, build: blueprint.Make}
	c.framework, c.other = frameworkIn(c.words)
	return c
}

// chat answers a message about a project.
func chat(f facts) answer { return newConversation(f).answer() }

func (c *conversation) answer() answer {
	if a, ok := c.smallTalk(); ok {
		return a
	}
	intents := read(c.facts.Prompt)
	if len(intents) > maxIntents {
		c.note("I took in the first %d requests only.", maxIntents)
		intents = intents[:maxIntents]
	}
	for _, in := range intents {
		c.do(in, intents)
	}
	if len(c.steps) == 0 && len(c.said) == 0 {
		return c.notUnderstood(intents)
	}
	return c.finish(intents)
}

// do answers one request.
func (c *conversation) do(in intent, all []intent) {
	switch in.deed {
	case makeThing:
		c.make(in)
	case addPackages:
		c.install(in)
	case removeFile:
		c.remove(in)
	case renameFile:
		c.rename(in)
	case explainFile:
		c.explain(in)
	case removePackage:
		c.say("I can't take packages out of a manifest; remove the line yourself, or with `npm uninstall`.")
	case change:
		if len(all) == 1 || !c.followsUp(in) {
			c.say("I can't do “%s”: changing code that exists takes a language model, and I only have templates.", in.text)
		}
	}
}

// followsUp reports that a request for a change is a wish about what was just made; it is told of with the rest.
func (c *conversation) followsUp(in intent) bool {
	if len(c.steps) == 0 {
		return false
	}
	c.note("Not taken into account: “%s”.", in.text)
	return true
}

// finish puts together what was said and done.
func (c *conversation) finish(intents []intent) answer {
	for _, in := range intents {
		if in.deed == unclear && strings.TrimSpace(in.text) != "" && !isFiller(in) {
			c.note("I did not understand “%s”.", in.text)
		}
	}
	made := slices.ContainsFunc(c.steps, func(s step) bool {
		return slices.ContainsFunc(s.acts, func(a act) bool { return a.input.Content != nil })
	})
	end := slices.Clone(c.notes)
	if made {
		end = append(end, disclaimer)
	}
	return answer{text: strings.Join(c.said, "\n\n"), steps: c.steps, end: strings.Join(end, "\n\n"), used: c.usedText()}
}

// isFiller reports words that say nothing of their own: "In Vue:", "Use TypeScript", "thanks".
func isFiller(in intent) bool {
	if in.framework != "" || in.other != "" {
		return true
	}
	words := wordsOf(in.text)
	return !slices.ContainsFunc(words, func(w word) bool {
		return !w.is(polite) && !w.is(inWords) && !w.is(thanks) && !w.is(greetings) && !w.is(determiners) && !w.is(pronouns) &&
			!typeScript.of(w.low) && !javaScript.of(w.low) && verbOf(w) == noVerb && !w.is(wholes)
	})
}

// say adds a paragraph to the answer.
func (c *conversation) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(c.said, text) {
		c.said = append(c.said, text)
	}
}

// note adds a paragraph to the answer's end.
func (c *conversation) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(c.notes, text) {
		c.notes = append(c.notes, text)
	}
}

// used remembers that a file was looked into.
func (c *conversation) used(path string) { c.looked[path] = true }

// usedText is what was looked into.
func (c *conversation) usedText() string {
	var b strings.Builder
	for _, f := range c.facts.Files {
		if c.looked[f.Path] {
			b.WriteString(f.Content)
		}
	}
	return b.String()
}
