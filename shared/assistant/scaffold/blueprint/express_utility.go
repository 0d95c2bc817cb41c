package blueprint

import "strings"

// utility makes a function, unless something else is asked for; what comes nearest to a hook is a middleware.
func (m *expressMaker) utility() made {
	n := m.name("item").without("utility", "util", "function", "module")
	switch {
	case m.Utility == "store":
		return m.store(n.without("store"))
	case m.Utility == "client":
		return m.client(n.without("client", "api", "service"))
	case m.Utility == "hook" || m.Utility == "" && middlewareOf(n) != "":
		return m.middleware(n.without("hook"))
	}
	path, v := newHelper(m.at, m.folder("utils", "helpers", "lib"), m.extension, n.without("helper", "helpers", "utils"), newJSView(m.Spec, n))
	v.Has["helper"] = true
	m.file(path, "javascript", v.Variant, v)
	m.says("Import `%s` from `%s`.", v.Name, path)
	return made{path, v}
}

func (m *expressMaker) store(n name) made {
	v, path := m.records(n, usualMethods(), false)
	v.Variant = "store"
	m.says("`%s` keeps the %s in memory: put a database behind its functions.", path, v.ManyText)
	return made{path, v}
}

func (m *expressMaker) client(n name) made {
	v := newJSView(m.Spec, n)
	v.Methods, v.Variant, v.Has["server"] = usualMethods(), "client", true
	path, _ := m.place(m.folder("clients", "services"), n.singular().with("client"))
	m.file(path, "react", "client", v)
	m.says("`%s` has a function for each call of `/api/%s` at the address in the environment's `API_URL`.", path, v.Address)
	return made{path, v}
}

// middlewareOf is the template of a middleware that everybody knows by that name.
func middlewareOf(n name) string {
	for _, word := range n.words {
		switch word {
		case "auth", "authenticate", "authentication", "authorization", "token", "bearer":
			return "middleware-auth"
		case "error", "errors":
			return "middleware-error"
		case "log", "logger", "logging", "middleware", "request":
			return "middleware-log"
		}
	}
	return ""
}

func (m *expressMaker) middleware(n name) made {
	v := newJSView(m.Spec, n)
	v.Variant = middlewareOf(n)
	if v.Variant == "" {
		v.Variant = "middleware-log"
	}
	path, free := m.place(m.folder("middleware", "middlewares"), n)
	v.Name = jsVariable(free)
	m.file(path, "express", v.Variant, v)
	switch v.Variant {
	case "middleware-auth":
		m.says("`app.use(%s({ token: process.env.API_TOKEN }))`; the middleware is in `%s`.", v.Name, path)
	case "middleware-error":
		m.says("Put `app.use(%s())` behind all routes; the middleware is in `%s`.", v.Name, path)
	default:
		m.says("`app.use(%s())` before the routes; the middleware is in `%s`.", v.Name, path)
	}
	return made{path, v}
}

// test makes a test of a module that exists, or else the module and its test.
func (m *expressMaker) test() {
	vitest := m.usesVitest()
	if m.SubjectPath != "" {
		v := newJSView(m.Spec, m.name("module"))
		v.Name, v.Has["vitest"] = jsVariable(nameOf(wordsOf(baseName(stem(m.SubjectPath))), "module")), vitest
		path := m.testPath(m.SubjectPath)
		v.Imports["subject"] = m.from(path, m.SubjectPath)
		m.file(path, "express", "test-existing", v)
		m.says("%s runs the test in `%s`. It holds what can be told of `%s` without knowing its content: a start to build on.", m.runner(vitest), path, m.SubjectPath)
		return
	}
	subject := m.thing(m.Subject)
	v := subject.view
	v.Has["vitest"] = vitest
	v.Has["statusOnly"] = v.Variant == "router" && !v.Does("GET", "POST")
	path := m.testPath(subject.path)
	v.Imports = map[string]string{"subject": m.from(path, subject.path)}
	folder, template := "express", "test-"+v.Variant
	switch {
	case v.Has["helper"]:
		folder, template, vitest = "javascript", "test-helper", true
	case v.Variant == "client":
		folder, vitest = "react", true
	case strings.HasPrefix(v.Variant, "middleware-"):
		template = "test-middleware"
	}
	m.file(path, folder, template, v)
	m.says("%s runs the test in `%s`. The project had nothing of that name to test, so `%s` is new as well.", m.runner(vitest), path, subject.path)
}

// usesVitest reports whether the project's tests are Vitest's; they are Node's own otherwise.
func (m *expressMaker) usesVitest() bool {
	for _, file := range m.at.files {
		if name := baseName(file); strings.HasPrefix(name, "vitest.config.") || strings.HasPrefix(name, "vite.config.") {
			return true
		}
	}
	return false
}

func (m *expressMaker) runner(vitest bool) string {
	switch {
	case vitest:
		return "`npx vitest run`"
	case m.TypeScript:
		return "`npx tsx --test`"
	}
	return "`node --test`"
}

// testPath is a free path beside the subject.
func (m *expressMaker) testPath(subject string) string {
	at := stem(subject)
	if !m.at.isUsable(subject[:strings.LastIndexByte(subject, '/')]) {
		at = m.source + "/" + baseName(at)
	}
	named := func(suffix string) string { return at + suffix + ".test" + m.extension }
	return named(m.at.free(func(suffix string) []string { return []string{named(suffix)} }))
}
