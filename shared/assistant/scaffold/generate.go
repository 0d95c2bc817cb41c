package scaffold

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"devplatform/shared/assistant/scaffold/blueprint"
)

// generate writes code for a prompt without a project: one fenced block and a short explanation.
func generate(f facts) answer { return newConversation(f).generate() }

func (c *conversation) generate() answer {
	f := c.facts
	in, found := firstThing(read(f.Prompt))
	if !found {
		return c.notUnderstood(nil)
	}
	language := strings.ToLower(strings.TrimSpace(f.Language))
	spec, ok := c.generateSpec(in, language)
	if !ok {
		return answer{text: strings.Join(append(c.said, introduction), "\n\n")}
	}
	result, err := c.build(spec)
	if err != nil {
		return answer{text: fmt.Sprintf("I have no template for that: %s. %s", err.Error(), introduction)}
	}
	main, ok := fileFor(result.Files, language)
	if !ok {
		return answer{text: fmt.Sprintf("I have no template that writes %s for %s. %s", clip(f.Language, 40), thingName(spec), introduction)}
	}
	return answer{text: c.explained(spec, result, main)}
}

// firstThing is the first request for a thing.
func firstThing(intents []intent) (intent, bool) {
	i := slices.IndexFunc(intents, func(in intent) bool { return in.deed == makeThing })
	if i < 0 {
		return intent{}, false
	}
	return intents[i], true
}

// generateSpec completes the words by the language and framework that were given.
func (c *conversation) generateSpec(in intent, language string) (blueprint.Spec, bool) {
	spec := in.spec
	l, known := languages.look(language)
	if language != "" && !known {
		c.say("I have no templates for %s; I write %s.", clip(c.facts.Language, 40), "JavaScript, TypeScript, Go, HTML, CSS, Vue and Svelte")
		return spec, false
	}
	f, ok := c.generateFramework(in, l)
	if !ok {
		return spec, false
	}
	if l.framework != "" && l.framework != f || l.script && f == blueprint.Go {
		c.say("%s code is not written in %s: leave one of the two out.", properName(f), clip(c.facts.Language, 40))
		return spec, false
	}
	spec.Framework, spec.TypeScript = f, l.typeScript || !l.script && typeScriptIn(c.words) > 0
	if in.thing.route {
		spec.Kind = blueprint.Page
		if f == blueprint.Express || f == blueprint.Go || len(spec.Methods) > 0 {
			spec.Kind = blueprint.Endpoint
		}
	}
	switch {
	case spec.Kind == blueprint.Test && len(spec.Name) == 0:
		c.say("What is the test to be about? For example: “%s”.", example(f, blueprint.Test))
		return spec, false
	case spec.Kind == blueprint.Test && spec.Subject == "":
		spec.Subject = blueprint.Component
		if f == blueprint.Express || f == blueprint.Go {
			spec.Subject = blueprint.Utility
		}
	case len(spec.Name) == 0:
		return c.named(spec)
	}
	return spec, true
}

// generateFramework chooses: the prompt's words, what was given, the language's, else what suits.
func (c *conversation) generateFramework(in intent, l language) (blueprint.Framework, bool) {
	if c.framework == "" && strings.TrimSpace(c.facts.Framework) == "" && c.other == "" {
		if l.framework != "" {
			return l.framework, true
		}
		f := fallback(in.spec, l.typeScript || typeScriptIn(c.words) > 0)
		if l.jsx {
			f = blueprint.React
		}
		c.note("No framework was named, so this is %s.", properName(f))
		return f, true
	}
	return c.frameworkFor(in)
}

// language is what a language that can be asked for says of the rest.
type language struct {
	framework  blueprint.Framework
	script     bool // JavaScript or TypeScript
	typeScript bool
	jsx        bool
}

var languages = lazily(func() map[string]language {
	return map[string]language{
		"javascript": {script: true}, "js": {script: true}, "jsx": {script: true, jsx: true}, "ecmascript": {script: true},
		"typescript": {script: true, typeScript: true}, "ts": {script: true, typeScript: true}, "tsx": {script: true, typeScript: true, jsx: true},
		"go": {framework: blueprint.Go}, "golang": {framework: blueprint.Go},
		"vue": {framework: blueprint.Vue}, "svelte": {framework: blueprint.Svelte},
		"html": {}, "css": {}, "": {},
	}
})

// fileFor is the file that answers: the main one, or, where a language's own was asked for, the first of that.
func fileFor(files []blueprint.File, language string) (blueprint.File, bool) {
	if language != "html" && language != "css" {
		return files[0], true
	}
	for _, f := range files {
		if path.Ext(f.Path) == "."+language {
			return f, true
		}
	}
	return blueprint.File{}, false
}

// explained is the block and what there is to say about it.
func (c *conversation) explained(spec blueprint.Spec, result blueprint.Result, main blueprint.File) string {
	paragraphs := []string{fenced(main)}
	say := fmt.Sprintf("%s for %s, from the built-in templates (no language model). Save it as %s. %s", capital(thingName(spec)), properName(spec.Framework), code(main.Path), result.Says)
	paragraphs = append(paragraphs, strings.TrimSpace(say))
	var others []string
	for _, f := range result.Files {
		if f.Path != main.Path {
			others = append(others, code(f.Path))
		}
	}
	if len(others) > 0 {
		paragraphs = append(paragraphs, fmt.Sprintf("In a project it comes with %s, which the chat writes as well.", andList(others)))
	}
	if len(result.Packages) > 0 {
		paragraphs = append(paragraphs, fmt.Sprintf("It needs %s.", codeList(result.Packages)))
	}
	return strings.Join(append(paragraphs, c.notes...), "\n\n")
}

// fenced is a file as a block of Markdown, with a fence that is longer than any within.
func fenced(f blueprint.File) string {
	fence := "```"
	for strings.Contains(f.Content, fence) {
		fence += "`"
	}
	return fence + strings.TrimPrefix(path.Ext(f.Path), ".") + "\n" + strings.TrimSuffix(f.Content, "\n") + "\n" + fence
}
