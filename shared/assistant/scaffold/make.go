package scaffold

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"devplatform/shared/assistant/action"
	"devplatform/shared/assistant/scaffold/blueprint"
)

// make makes a thing.
func (c *conversation) make(in intent) {
	spec, ok := c.specOf(in)
	if !ok {
		return
	}
	result, err := c.build(spec)
	if err != nil {
		c.say("I have no template for that: %s.", err.Error())
		return
	}
	s := step{name: thingName(spec)}
	names := make([]string, len(result.Files))
	for i, f := range result.Files {
		names[i] = code(f.Path)
		s.acts = append(s.acts, act{action.CreateFile, input{Path: f.Path, Content: &result.Files[i].Content}})
		c.facts.add(f.Path)
	}
	s.says = fmt.Sprintf("%s for %s: %s. %s", capital(thingName(spec)), properName(spec.Framework), andList(names), result.Says)
	s = c.withPackages(s, spec.Framework, result.Packages)
	if len(in.unused) > 0 {
		c.note("Not taken into account: %s.", quotedList(in.unused))
	}
	if at := "/" + strings.TrimPrefix(in.at, "/"); in.at != "" && !c.facts.has(at) {
		c.note("Templates choose their place, so it is not at %s; I can rename it afterwards.", code(in.at))
	}
	c.steps = append(c.steps, s)
	c.last = &made{spec: spec, path: result.Files[0].Path}
}

// withPackages adds what the files import to the nearest manifest, or says what to install.
func (c *conversation) withPackages(s step, f blueprint.Framework, packages []string) step {
	if len(packages) == 0 {
		return s
	}
	manifest := "package.json"
	if f == blueprint.Go {
		manifest = "go.mod"
	}
	at := c.facts.nearest(manifest)
	if at == "" {
		s.says += fmt.Sprintf(" It needs %s; the project has no `%s` to add that to.", codeList(packages), manifest)
		return s
	}
	have, known := c.facts.dependencies(at)
	if known {
		c.used(at)
	}
	s.needs = slices.DeleteFunc(slices.Clone(packages), func(p string) bool { return have[packageName(p)] })
	s.manifest = at
	if len(s.needs) > 0 {
		s.says += fmt.Sprintf(" It needs %s, which I add to `%s`.", codeList(s.needs), at)
	}
	return s
}

// specOf completes what the words say by what the project is. Where that is not enough it says so.
func (c *conversation) specOf(in intent) (blueprint.Spec, bool) {
	spec := in.spec
	f, ok := c.frameworkFor(in)
	if !ok {
		return spec, false
	}
	spec.Framework = f
	spec.Paths = c.facts.paths
	spec.TypeScript = c.wantsTypeScript()
	if in.thing.route && (f == blueprint.Express || f == blueprint.Go) {
		spec.Kind = blueprint.Endpoint
	} else if in.thing.route && len(spec.Methods) == 0 {
		spec.Kind = blueprint.Page
	} else if in.thing.route {
		spec.Kind = blueprint.Endpoint
	}
	if spec.Kind == blueprint.Test {
		return c.subjectOf(in, spec)
	}
	if len(spec.Name) == 0 {
		return c.named(spec)
	}
	return spec, true
}

// named gives a thing without a name one that follows from its fields, or asks for it.
func (c *conversation) named(spec blueprint.Spec) (blueprint.Spec, bool) {
	has := func(t string) bool {
		return slices.ContainsFunc(spec.Fields, func(f blueprint.Field) bool { return f.Type == t })
	}
	switch {
	case spec.Kind == blueprint.Form && has("password"):
		spec.Name = []string{"login"}
	case spec.Kind == blueprint.Form:
		spec.Name = []string{"contact"}
	case spec.Kind == blueprint.List:
		spec.Name = []string{"items"}
	default:
		c.say("What is the %s to be called? For example: “%s”.", spec.Kind, example(spec.Framework, spec.Kind))
		return spec, false
	}
	c.note("You gave no name for the %s, so it is “%s”.", spec.Kind, spoken(spec.Name))
	return spec, true
}

// wantsTypeScript is what the message says, else what the project has.
func (c *conversation) wantsTypeScript() bool {
	switch typeScriptIn(c.words) {
	case 1:
		return true
	case -1:
		return false
	}
	return usesTypeScript(c.facts.paths)
}

// frameworkFor chooses: the request's words, the message's, the project's, its files', else what suits. False: it is one that there
// are no blueprints for, which was said.
func (c *conversation) frameworkFor(in intent) (blueprint.Framework, bool) {
	if in.framework != "" {
		return in.framework, true
	}
	if in.other != "" || c.framework == "" && c.other != "" {
		return "", c.unknown(firstOf(in.other, c.other))
	}
	if c.framework != "" {
		return c.framework, true
	}
	if setting := c.facts.Framework; strings.TrimSpace(setting) != "" {
		f, ok := frameworkNamed(setting)
		if !ok {
			return "", c.unknown(clip(setting, 40))
		}
		return f, true
	}
	if f := guessFramework(c.facts.paths); f != "" {
		return f, true
	}
	f := fallback(in.spec, false)
	c.note("No framework was named and the project's files don't tell, so this is %s.", properName(f))
	return f, true
}

// fallback is the framework for a thing where nothing says which.
func fallback(spec blueprint.Spec, typeScript bool) blueprint.Framework {
	switch {
	case spec.Kind == blueprint.Endpoint || spec.Kind == blueprint.Test && spec.Subject == blueprint.Endpoint:
		return blueprint.Express
	case spec.Utility == "hook" || spec.Utility == "store" || typeScript:
		return blueprint.React
	}
	return blueprint.Static
}

// unknown says that there are no blueprints for a framework.
func (c *conversation) unknown(name string) bool {
	if !c.asked {
		c.say("I have no templates for %s. I know %s; name one of them in your message (“… in Vue”, “… in plain HTML”) to get code for it.", name, knownFrameworks())
	}
	c.asked = true
	return false
}

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
	c.note("I did not find the %s “%s” in the project; the test expects it where I would have put it.", spec.Subject, spoken(spec.Name))
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
		for _, did := range t.Did {
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

// thingName is a thing in a sentence: the form “signup”.
func thingName(s blueprint.Spec) string {
	kind := string(s.Kind)
	switch {
	case s.Kind == blueprint.Test:
		return fmt.Sprintf("the test of the %s “%s”", s.Subject, spoken(s.Name))
	case s.Kind == blueprint.List && s.Table:
		kind = "table"
	case s.Kind == blueprint.Utility && s.Utility != "":
		kind = s.Utility
	}
	return fmt.Sprintf("the %s “%s”", kind, spoken(s.Name))
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func quotedList(texts []string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = "“" + clip(t, 60) + "”"
	}
	return andList(out)
}
