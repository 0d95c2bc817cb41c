package scaffold

import (
	"path"
	"slices"
	"strings"

	"devplatform/shared/assistant/scaffold/blueprint"
)

// subjectOf finds what a test is about: a file of the project, what was just made, the current file.
func (c *conversation) subjectOf(in intent, spec blueprint.Spec) (blueprint.Spec, bool) {
	if p, several := c.subjectFile(in, spec); len(several) > 1 {
		c.say("Which of these is the test to be about: %s?", codeList(several[:min(len(several), 8)]))
		return spec, false
	} else if p != "" {
		return c.testOf(spec, p), true
	}
	if words := in.subject; slices.ContainsFunc(words, word.isPath) {
		c.say("The project has no file %s that a test could be about.", code(joined(words)))
		return spec, false
	}
	if len(spec.Name) == 0 || spec.Subject == "" && !slices.ContainsFunc(in.subject, word.isCapital) {
		if len(spec.Name) > 0 {
			c.say("I found nothing called “%s” in the project to write a test for. Name the file, or say what it is: “a test for the %s component”.", spoken(spec.Name), spoken(spec.Name))
			return spec, false
		}
		c.say("What is the test to be about? For example: “%s”.", example(spec.Framework, blueprint.Test))
		return spec, false
	}
	if spec.Subject == "" {
		spec.Subject = blueprint.Component
		if spec.Framework == blueprint.Express || spec.Framework == blueprint.Go {
			spec.Subject = blueprint.Utility
		}
	}
	return spec, true
}

// subjectFile is the file that a test is about; several if the words fit more than one.
func (c *conversation) subjectFile(in intent, spec blueprint.Spec) (one string, several []string) {
	for _, w := range in.subject {
		if w.isPath() || w.quoted {
			if found := onlySources(c.facts.find(w)); len(found) > 0 {
				return single(found)
			}
		}
	}
	if len(spec.Name) == 0 {
		if c.last != nil {
			return c.last.path, nil
		}
		if p := c.lastOfTurns(); p != "" && slices.ContainsFunc(in.subject, func(w word) bool { return w.low == "it" || w.low == "that" }) {
			return p, nil
		}
		if isSource(c.facts.CurrentFile) && c.facts.has(c.facts.CurrentFile) {
			return c.facts.CurrentFile, nil
		}
		return "", nil
	}
	if c.last != nil && slices.Equal(c.last.spec.Name, spec.Name) && (spec.Subject == "" || spec.Subject == c.last.spec.Kind) {
		return c.last.path, nil
	}
	return single(onlySources(c.facts.findStems(spec)))
}

// lastOfTurns is the source that was made last in the turns before, if the project still has it.
func (c *conversation) lastOfTurns() string {
	for _, t := range slices.Backward(c.facts.Turns) {
		for _, did := range t.Actions {
			p, ok := strings.CutPrefix(did, "create_file ")
			if ok && isSource(p) && c.facts.has(p) {
				return p
			}
		}
	}
	return ""
}

// findStems looks for a thing under the names that files have for it: login, LoginForm, useLogin.
func (f facts) findStems(spec blueprint.Spec) []string {
	var found []string
	kind := string(spec.Subject)
	if spec.Table {
		kind = "table"
	}
	for _, name := range [][]string{append(slices.Clone(spec.Name), firstOf(spec.Utility, kind)), append([]string{"use"}, spec.Name...), spec.Name} {
		if found = onlySources(f.findStem(name)); len(found) > 0 {
			break
		}
	}
	if exact := slices.IndexFunc(found, func(p string) bool { k, _ := kindOfPath(p); return k == spec.Subject }); exact >= 0 && spec.Subject != "" {
		return found[exact : exact+1]
	}
	return found
}

func onlySources(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !isSource(p) })
}

func single(paths []string) (string, []string) {
	if len(paths) == 1 {
		return paths[0], nil
	}
	return "", paths
}

// testOf is the test of a file.
func (c *conversation) testOf(spec blueprint.Spec, p string) blueprint.Spec {
	kind, utility := kindOfPath(p)
	if c.last != nil && c.last.path == p {
		kind, utility, spec.Fields, spec.Table = c.last.spec.Kind, c.last.spec.Utility, c.last.spec.Fields, c.last.spec.Table
		spec.Methods, spec.Name = c.last.spec.Methods, c.last.spec.Name
	}
	if spec.Subject == "" {
		spec.Subject, spec.Utility = kind, utility
	}
	if len(spec.Name) == 0 {
		spec.Name = tidyName(nameOfFile(p), thing{kind: spec.Subject})
	}
	spec.SubjectPath = p
	return spec
}

// testOfLast makes the test of what was just made: together with it, so that the test knows what it tests. False if that is not how
// the blueprint goes about it.
func (c *conversation) testOfLast(spec blueprint.Spec) bool {
	if i := slices.IndexFunc(c.last.files, func(f blueprint.File) bool { return isTestPath(f.Path) }); i >= 0 {
		c.say("%s has its test in %s.", capital(thingName(c.last.spec)), code(c.last.files[i].Path))
		return true
	}
	spec.SubjectPath = ""
	result, err := c.built(spec, c.last.before)
	if err != nil {
		return false
	}
	for _, f := range c.last.files {
		if !slices.ContainsFunc(result.Files, func(g blueprint.File) bool { return g == f }) {
			return false
		}
	}
	result.Files = slices.DeleteFunc(slices.Clone(result.Files), func(f blueprint.File) bool { return slices.Contains(c.last.files, f) })
	s := c.stepOf(spec, result)
	thing := &c.steps[len(c.steps)-1]
	thing.name, thing.says = thing.name+" and its test", thing.says+"\n\n"+s.says
	thing.acts, thing.needs = append(thing.acts, s.acts...), mergePackages(thing.needs, s.needs)
	thing.manifest = firstOf(s.manifest, thing.manifest)
	return true
}

// nameOfFile is what the thing in a file is called: its name, or, where that is the framework's, its folder's.
func nameOfFile(p string) []string {
	segments := strings.Split(strings.TrimPrefix(p, "/"), "/")
	for i := len(segments) - 1; i >= 0; i-- {
		base := segments[i]
		if dot := strings.IndexByte(base, '.'); dot > 0 {
			base = base[:dot]
		}
		if slices.Contains([]string{"page", "+page", "route", "+server", "index", "layout", "+layout"}, base) || strings.HasPrefix(base, "[") || strings.HasPrefix(base, "(") {
			continue
		}
		return bounded(parts(base))
	}
	return []string{strings.TrimSuffix(path.Base(p), path.Ext(p))}
}
