package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"devplatform/shared/assistant/scaffold/blueprint"
)

const introduction = "I am the built-in generator: templates, no language model."

// smallTalk answers a message that asks for nothing, or for help.
func (c *conversation) smallTalk() (answer, bool) {
	if len(c.words) == 0 {
		return answer{text: introduction + " " + c.abilities()}, true
	}
	if len(c.words) > 8 {
		return answer{}, false
	}
	text := make([]string, len(c.words))
	for i, w := range c.words {
		text[i] = w.low
	}
	all := strings.Join(text, " ")
	every := func(set lexicon[string, bool]) bool {
		return !slices.ContainsFunc(text, func(w string) bool { return !set.of(w) })
	}
	switch {
	case every(thanksTalk) && slices.ContainsFunc(text, func(w string) bool { return thanks.of(w) }):
		return answer{text: "You're welcome."}, true
	case every(greetingTalk):
		return answer{text: "Hello! " + introduction + " " + c.abilities()}, true
	case text[0] == "help" && len(text) <= 2 || asksAbilities.of(all):
		return answer{text: introduction + " " + c.abilities()}, true
	}
	return answer{}, false
}

var (
	thanksTalk   = setOf("thanks thank you thx cheers ty so much a lot very great nice ok okay good perfect cool that's for this that it all")
	greetingTalk = setOf("hi hello hey hola greetings yo howdy good morning evening afternoon there how are you doing today ok okay test assistant ai bot")
	// asksAbilities are the usual ways to ask what this can do.
	asksAbilities = lazily(func() map[string]bool {
		return map[string]bool{
			"what can you do": true, "what can you do for me": true, "what do you do": true, "who are you": true, "what are you": true, "how do you work": true,
			"can you help me": true, "please help": true, "please help me": true, "can you help": true, "how can you help": true, "how can you help me": true,
			"what are your capabilities": true, "which frameworks do you know": true, "what frameworks do you know": true, "what model are you": true,
			"which model are you": true, "are you an ai": true, "are you a language model": true, "are you human": true, "what is this": true,
			"what else can you do": true, "which frameworks do you support": true, "what frameworks do you support": true, "how does this work": true,
		}
	})
)

// abilities lists what there is, with examples in the project's framework.
func (c *conversation) abilities() string {
	f := c.likelyFramework()
	kinds := []blueprint.Kind{blueprint.Component, blueprint.Page, blueprint.Endpoint, blueprint.Form, blueprint.List, blueprint.Utility, blueprint.Test}
	var b strings.Builder
	fmt.Fprintf(&b, "For %s I write components, pages, API endpoints, forms, lists and tables, utilities and tests. "+
		"I also add packages to the manifest, rename and delete files, and say what is in a file. For example:\n", knownFrameworks())
	for _, k := range kinds {
		fmt.Fprintf(&b, "\n- %s", example(f, k))
	}
	others := []string{"add zod", "rename app.js to main.js", "delete /src/old.js", "explain this file"}
	if f == blueprint.Go {
		others = []string{"add github.com/google/uuid@v1.6.0", "rename user.go to member.go", "delete /old.go", "explain this file"}
	}
	for _, e := range others {
		fmt.Fprintf(&b, "\n- %s", e)
	}
	return b.String()
}

// likelyFramework is the one that examples are in.
func (c *conversation) likelyFramework() blueprint.Framework {
	if c.framework != "" {
		return c.framework
	}
	if f, ok := frameworkNamed(c.facts.Framework); ok {
		return f
	}
	if f := guessFramework(c.facts.paths); f != "" {
		return f
	}
	return blueprint.Static
}

// example is a prompt that asks for a kind of thing as people of the framework call it.
func example(f blueprint.Framework, k blueprint.Kind) string {
	switch k {
	case blueprint.Component:
		if f == blueprint.Static {
			return "create a navbar partial"
		}
		return "create a Navbar component"
	case blueprint.Page:
		return "create a contact page"
	case blueprint.Endpoint:
		return "create an endpoint for products with name and price"
	case blueprint.Form:
		return "a signup form with email, password and a newsletter checkbox"
	case blueprint.List:
		return "a table of users with name, email and age"
	case blueprint.Utility:
		switch f {
		case blueprint.React, blueprint.Next:
			return "create a useLocalStorage hook"
		case blueprint.Vue:
			return "create a useLocalStorage composable"
		case blueprint.Svelte:
			return "create a cart store"
		}
		return "create a helper to format dates"
	default:
		if f == blueprint.Express || f == blueprint.Go {
			return "a test for the products endpoint"
		}
		return "a test for the Navbar component"
	}
}

// notUnderstood says so, and what could be asked.
func (c *conversation) notUnderstood(intents []intent) answer {
	text := "I did not understand that. " + introduction
	if !slices.ContainsFunc(intents, func(in intent) bool { return in.deed != unclear }) && c.framework == "" && c.other != "" {
		text = fmt.Sprintf("I have no templates for %s. %s", c.other, introduction)
	}
	return answer{text: text + " " + c.abilities()}
}
