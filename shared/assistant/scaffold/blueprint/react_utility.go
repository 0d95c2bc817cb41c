package blueprint

// utility makes a hook, unless another one is asked for.
func (m *reactMaker) utility() made {
	n := m.name("item").without("utility", "util", "function", "module")
	switch m.Utility {
	case "store":
		return m.store(n.without("store", "state"))
	case "helper":
		return m.helper(n.without("helper", "helpers", "utils"))
	case "client":
		made := m.client(m.Spec, n.without("client", "api", "service"), usualMethods())
		return made
	case "":
		if helperOf(n) != "" && n.words[0] != "use" && hookOf(n) == "" {
			return m.helper(n.without("helper"))
		}
	}
	n = n.without("hook")
	if len(n.words) > 1 && n.words[0] == "use" {
		n = name{words: n.words[1:], noun: n.noun}
	}
	v := m.view(m.Spec, n)
	template := hookOf(n)
	if template == "" {
		v.Variant = "hook"
		made := m.hook(n.plural(), "hook", v, "")
		m.says("`const { %s, add, update, remove, clear } = %s()` in a component; the hook is in `%s`.", v.Many, made.view.Name, made.path)
		return made
	}
	v.Variant = template
	made := m.hook(n, template, v, "")
	m.says("Call `%s` in a component; the hook is in `%s`.", made.view.Name, made.path)
	return made
}

// hookOf is the template of a hook that everybody knows by that name.
func hookOf(n name) string {
	switch n.kebab() {
	case "toggle", "boolean", "switch", "disclosure":
		return "hook-toggle"
	case "counter", "count":
		return "hook-counter"
	case "debounce", "debounced-value", "debounced":
		return "hook-debounce"
	case "local-storage", "storage", "localstorage":
		return "hook-storage"
	case "media-query", "media":
		return "hook-media"
	case "window-size", "viewport", "window":
		return "hook-window"
	case "fetch", "api", "request":
		return "hook-fetch"
	}
	return ""
}

func (m *reactMaker) store(resource name) made {
	v := m.view(m.Spec, resource)
	v.Variant = "store"
	folder := m.at.folder([]string{"stores", "store"}, m.source+"/stores")
	n := resource.singular().with("store")
	suffix := m.at.free(func(suffix string) []string { return []string{folder + "/" + n.numbered(suffix).camel() + m.script()} })
	path := folder + "/" + n.numbered(suffix).camel() + m.script()
	v.Name = "use" + n.numbered(suffix).pascal()
	m.file(path, "react", "store", v)
	m.says("`%s((state) => state.%s)` in any component; the store is in `%s`.", v.Name, v.Many, path)
	return made{path, v}
}

func (m *reactMaker) helper(n name) made {
	folder := m.at.folder([]string{"utils", "helpers", "lib"}, m.source+"/utils")
	path, v := newHelper(m.at, folder, m.script(), n, m.view(m.Spec, n))
	v.Has["helper"] = true
	m.file(path, "javascript", v.Variant, v)
	m.says("Import `%s` from `%s`.", v.Name, path)
	return made{path, v}
}
