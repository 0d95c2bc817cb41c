package scaffold

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/model"
)

// answer is what is said and done, before it is known whether all of it fits.
type answer struct {
	text string
	// steps are what is done, in order.
	steps []step
	// end is said at the end, whatever was left out before it.
	end string
	// used is the text of the files and turns that were read for the answer.
	used string
}

// step is changes that make sense only together: the files of one thing that was made. It is done whole or not at all.
type step struct {
	// name is what it is called where it is left out, such as "the page Contact".
	name string
	says string
	acts []act
	// needs are the packages for manifest, empty if the project has none.
	needs    []string
	manifest string
}

// act is one action, as it is handed to the caller as a call of the tool of its type.
type act struct {
	kind  action.Type
	input input
}

// input is what a tool takes, as its JSON has it.
type input struct {
	Path     string   `json:"path"`
	Content  *string  `json:"content,omitzero"`
	To       string   `json:"to,omitempty"`
	Packages []string `json:"packages,omitzero"`
}

// operations is how much of a batch an action takes.
func (a act) operations() int {
	if a.kind == action.RenameFile {
		return 2
	}
	return 1
}

// reply is an answer that fits.
type reply struct {
	text  string
	calls []call
}

// call is a tool's use, its input written out.
type call struct{ name, input string }

// read is how many tokens were taken in for the answer.
func (a answer) read(f facts) int {
	return tokens(utf8.RuneCountInString(f.Prompt) + utf8.RuneCountInString(a.used))
}

// tokens estimates a text of so many characters.
func tokens(characters int) int { return (characters + 3) / 4 }

// fit puts the answer together so that it takes at most so many tokens (0: as many as it needs) and so many actions as an answer may
// have. Steps that don't fit are left out whole, which the text says; the text alone is ever cut.
func (a answer) fit(most int) (reply, model.Stop) {
	kept, left := a.steps, []step(nil)
	for {
		out := compose(a, kept, left)
		if fits(out, kept, most) || len(kept) == 0 {
			return cut(out, most)
		}
		kept, left = without(kept, left)
	}
}

// without leaves the last step out.
func without(kept, left []step) (fewer, more []step) {
	last := kept[len(kept)-1]
	return kept[:len(kept)-1], append([]step{last}, left...)
}

// fits reports whether a reply keeps to the limits.
func fits(out reply, kept []step, most int) bool {
	n := 0
	for _, s := range kept {
		for _, a := range s.acts {
			n += a.operations()
		}
	}
	if n+len(additions(kept)) > action.MaxPerAnswer {
		return false
	}
	return most <= 0 || tokens(out.characters()) <= most
}

// compose writes the reply with the steps that are kept.
func compose(a answer, kept, left []step) reply {
	var paragraphs []string
	say := func(s string) {
		if s != "" {
			paragraphs = append(paragraphs, s)
		}
	}
	say(a.text)
	var out reply
	for _, s := range kept {
		say(s.says)
		for _, d := range s.acts {
			out.calls = append(out.calls, call{name: string(d.kind), input: d.input.json()})
		}
	}
	for _, d := range additions(kept) {
		out.calls = append(out.calls, call{name: string(d.kind), input: d.input.json()})
	}
	if len(left) > 0 {
		names := make([]string, len(left))
		for i, s := range left {
			names[i] = s.name
		}
		say(fmt.Sprintf("Left out, because it would have made this answer too long: %s. Ask for it again by itself.", strings.Join(names, ", ")))
	}
	say(a.end)
	out.text = strings.Join(paragraphs, "\n\n")
	return out
}

// mostPackages is how many an add_dependency takes.
const mostPackages = 50

// additions are the packages of all steps, one action a manifest, more only where they are many.
func additions(steps []step) []act {
	var acts []act
	at := map[string]int{}
	for _, s := range steps {
		if s.manifest == "" || len(s.needs) == 0 {
			continue
		}
		i, ok := at[s.manifest]
		if !ok || len(acts[i].input.Packages)+len(s.needs) > mostPackages {
			i = len(acts)
			at[s.manifest] = i
			acts = append(acts, act{action.AddDependency, input{Path: s.manifest}})
		}
		acts[i].input.Packages = mergePackages(acts[i].input.Packages, s.needs)
	}
	return acts
}

// mergePackages adds what is not there by name.
func mergePackages(have, more []string) []string {
	for _, p := range more {
		known := false
		for _, h := range have {
			known = known || packageName(h) == packageName(p)
		}
		if !known {
			have = append(have, p)
		}
	}
	return have
}

// characters is how much a reply is, as tokens estimates it.
func (r reply) characters() int {
	n := utf8.RuneCountInString(r.text)
	for _, c := range r.calls {
		n += utf8.RuneCountInString(c.name) + utf8.RuneCountInString(c.input)
	}
	return n
}

// cut shortens the text of a reply whose steps are all left out already, or fit.
func cut(out reply, most int) (reply, model.Stop) {
	switch {
	case most > 0 && tokens(out.characters()) > most:
		text := []rune(out.text)
		out.text = string(text[:min(len(text), most*4)])
		if i := strings.LastIndexAny(out.text, " \n"); i > 0 {
			out.text = out.text[:i]
		}
		return out, model.StopLength
	case len(out.calls) > 0:
		return out, model.StopTools
	default:
		return out, model.StopEnd
	}
}
