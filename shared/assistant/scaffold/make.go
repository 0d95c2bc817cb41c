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
	if !ok || c.comesWithPage(in, spec) {
		return
	}
	if spec.Kind == blueprint.Test && c.last != nil && spec.SubjectPath == c.last.path && c.testOfLast(spec) {
		return
	}
	before := c.facts.paths
	result, err := c.built(spec, before)
	if err != nil {
		c.say("I have no template for that: %s.", err.Error())
		return
	}
	if len(in.unused) > 0 {
		c.note("Not taken into account: %s.", quotedList(in.unused))
	}
	s := c.stepOf(spec, result)
	if at := "/" + strings.TrimPrefix(in.at, "/"); in.at != "" && !c.facts.has(at) {
		c.note("Templates choose their place, so it is not at %s; I can rename it afterwards.", code(in.at))
	}
	c.steps = append(c.steps, s)
	c.last = &made{spec: spec, path: result.Files[0].Path, before: before, files: result.Files}
}

// stepOf creates the files of a result.
func (c *conversation) stepOf(spec blueprint.Spec, result blueprint.Result) step {
	s := step{name: thingName(spec)}
	names := make([]string, len(result.Files))
	for i, f := range result.Files {
		names[i] = code(f.Path)
		s.acts = append(s.acts, act{action.CreateFile, input{Path: f.Path, Content: &result.Files[i].Content}})
		c.facts.add(f.Path)
	}
	s.says = fmt.Sprintf("%s for %s: %s. %s", capital(thingName(spec)), properName(spec.Framework), andList(names), result.Says)
	return c.withPackages(s, spec.Framework, result.Packages)
}

// base is the folder of the manifest that the current file belongs to, in a repository of several projects; empty at the root.
func (c *conversation) base() string {
	best := ""
	for _, p := range c.facts.paths {
		folder, name := path.Split(p)
		if (name == "package.json" || name == "go.mod") && strings.HasPrefix(c.facts.CurrentFile, folder) && len(folder) > len(best) {
			best = folder
		}
	}
	return strings.TrimSuffix(best, "/")
}

// inside are the paths under a folder, as if it were the root.
func inside(base string, paths []string) []string {
	if base == "" {
		return paths
	}
	var out []string
	for _, p := range paths {
		if rest, ok := strings.CutPrefix(p, base); ok && strings.HasPrefix(rest, "/") {
			out = append(out, rest)
		}
	}
	return out
}

// built makes a thing as if the current file's project were all there is, and puts it where that project lies.
func (c *conversation) built(spec blueprint.Spec, paths []string) (blueprint.Result, error) {
	base := c.base()
	if spec.SubjectPath != "" {
		if rest, ok := strings.CutPrefix(spec.SubjectPath, base+"/"); ok {
			spec.SubjectPath = "/" + rest
		} else {
			base = ""
		}
	}
	spec.Paths = inside(base, paths)
	r, err := c.build(spec)
	if err != nil || base == "" {
		return r, err
	}
	r.Files = slices.Clone(r.Files)
	for i, f := range r.Files {
		r.Says = strings.ReplaceAll(r.Says, "`"+f.Path+"`", "`"+base+f.Path+"`")
		r.Files[i].Path = base + f.Path
	}
	return r, nil
}

// comesWithPage reports a form that the page before has already: "a page with a contact form".
func (c *conversation) comesWithPage(in intent, spec blueprint.Spec) bool {
	if spec.Kind != blueprint.Form || !in.linked || c.last == nil || c.last.spec.Kind != blueprint.Page || !slices.Equal(spec.Name, c.last.spec.Name) || len(spec.Fields) > 0 {
		return false
	}
	wanted := strings.Join(spec.Name, "") + "form"
	return slices.ContainsFunc(c.last.files, func(f blueprint.File) bool {
		return strings.Contains(strings.ReplaceAll(strings.ToLower(f.Path), "-", ""), wanted)
	})
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
	at := c.base() + "/" + manifest
	if !c.facts.has(at) {
		at = c.facts.nearest(manifest)
	}
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
	spec.TypeScript = c.wantsTypeScript(inside(c.base(), c.facts.paths))
	if in.thing.route && (f == blueprint.Express || f == blueprint.Go) {
		spec.Kind = blueprint.Endpoint
	} else if in.thing.route && len(spec.Methods) == 0 {
		spec.Kind = blueprint.Page
	} else if in.thing.route {
		spec.Kind = blueprint.Endpoint
	}
	if in.thing.middleware && f != blueprint.Express {
		c.say("I have templates for middleware in Express only; for %s, ask for a helper or a handler.", properName(f))
		return spec, false
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
func (c *conversation) wantsTypeScript(paths []string) bool {
	switch typeScriptIn(c.words) {
	case 1:
		return true
	case -1:
		return false
	}
	return usesTypeScript(paths)
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
	const shown = 8
	out := make([]string, 0, shown+1)
	for _, t := range texts[:min(len(texts), shown)] {
		out = append(out, "“"+clip(t, 60)+"”")
	}
	if len(texts) > shown {
		out = append(out, "more")
	}
	return andList(out)
}
