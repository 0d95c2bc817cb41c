package build

import (
	"path"
	"slices"
	"strings"

	"devplatform/shared/deployment/failure"
)

// conditions returns the conditions of exports and imports that hold for a reference.
func conditions(ref reference) []string {
	kind := "import"
	switch {
	case ref.css:
		kind = "style"
	case ref.require:
		kind = "require"
	}
	return []string{"browser", "module", "production", kind}
}

// bare returns the target of a reference to a package, such as "react-dom/client".
func (r *resolver) bare(ref reference) (target, error) {
	if m := r.nearest(ref.importer); m != nil {
		if to, ok := m.remapped[ref.specifier]; ok && !ref.css {
			return r.remapBare(ref, m, to)
		}
	}
	return r.lookUp(ref)
}

// remapBare returns the target of a package for which the importer's package has a replacement.
func (r *resolver) remapBare(ref reference, m *manifest, to string) (target, error) {
	if to == "" {
		return target{file: ref.specifier, kind: toEmpty}, nil
	}
	if !strings.HasPrefix(to, ".") {
		ref.specifier = to
		return r.lookUp(ref)
	}
	if file, ok := join(m.dir, to); ok && within(m.dir, file) {
		if found, ok := r.probe(file, ref); ok {
			return target{file: found, pure: m.isPure(found)}, nil
		}
	}
	return r.lookUp(ref)
}

// split returns the name of a package and the subpath, such as "." or "./client". ok is false if it is not a name.
func split(spec string) (name, subpath string, ok bool) {
	parts := strings.SplitN(spec, "/", 3)
	n := 1
	if strings.HasPrefix(spec, "@") {
		n = 2
	}
	if len(parts) < n || slices.Contains(parts[:n], "") || strings.HasPrefix(spec, ".") || strings.Contains(spec, "\\") {
		return "", "", false
	}
	name = strings.Join(parts[:n], "/")
	return name, "." + strings.TrimPrefix(spec, name), !slices.Contains(strings.Split(spec, "/"), "..")
}

// lookUp walks up the folders and looks into each node_modules.
func (r *resolver) lookUp(ref reference) (target, error) {
	name, subpath, ok := split(ref.specifier)
	if !ok {
		return target{}, failf(failure.BuildFailed, "%s is neither a path nor a package. Begin paths with ./",
			quote(ref.specifier))
	}
	if slices.ContainsFunc(r.imports, func(key string) bool {
		return key == ref.specifier || strings.HasSuffix(key, "/") && strings.HasPrefix(ref.specifier, key)
	}) {
		return target{file: ref.specifier, kind: toExternal}, nil
	}
	if m := r.nearest(ref.importer); m != nil && m.name == name && m.exports != nil {
		return r.inPackage(ref, m, m.dir, subpath)
	}
	for dir := path.Dir(ref.importer); ; dir = path.Dir(dir) {
		if path.Base(dir) != "node_modules" {
			home := path.Join(dir, "node_modules", name)
			if m := r.manifest(home); m != nil {
				return r.inPackage(ref, m, home, subpath)
			}
			if t, ok := r.file(path.Join(home, subpath), ref); ok {
				return t, nil
			}
		}
		if dir == "/" {
			break
		}
	}
	if builtins[strings.TrimSuffix(name, "/")] {
		return r.builtin(ref)
	}
	return target{file: ref.specifier, kind: toMissing}, nil
}

// inPackage returns a file of a package.
func (r *resolver) inPackage(ref reference, m *manifest, home, subpath string) (target, error) {
	if m.exports == nil {
		if t, ok := r.file(path.Join(home, subpath), ref); ok {
			return t, nil
		}
		return target{}, failf(failure.BuildFailed,
			"The package %q has no file for the import %s. Correct the import, or use "+
				"another version of the package.", m.name, quote(ref.specifier))
	}
	if file, ok := m.export(subpath, conditions(ref)); ok && r.has(file) {
		return target{file: file, pure: m.isPure(file)}, nil
	}
	return target{}, failf(failure.BuildFailed, "The package %q does not export %s. Correct the import, or use another "+
		"version of the package.", m.name, quote(ref.specifier))
}

// packageImport returns the target of a reference such as "#internal/a", by the field imports of the
// importer's package.
func (r *resolver) packageImport(ref reference) (target, error) {
	if m := r.nearest(ref.importer); m != nil && m.imports != nil {
		if to, ok := m.imports.lookUp(ref.specifier, conditions(ref)); ok {
			if isInside(to) {
				if t, ok := r.finish(path.Join(m.dir, to), ref); ok {
					return t, nil
				}
			} else if _, _, ok := split(to); ok && !strings.HasPrefix(to, "#") && !strings.HasPrefix(to, "/") {
				ref.specifier = to
				return r.lookUp(ref)
			}
		}
	}
	return target{}, failf(failure.BuildFailed, "%s is not defined by the field imports of package.json.",
		quote(ref.specifier))
}

// missing returns the error for a package that does not exist.
func (r *resolver) missing(importer, spec string) *failure.Error {
	name, _, _ := split(spec)
	_, declared := r.declared.Dependencies[name]
	_, dev := r.declared.DevDependencies[name]
	from := " It is imported by " + importer + "."
	switch {
	case declared:
		return failf(failure.DependencyNotFound, "The package %q is not installed although /package.json names it.%s "+
			"Correct its name or version.", name, from)
	case dev:
		return failf(failure.DependencyNotFound,
			"The package %q is in devDependencies, which are not installed.%s Move it to "+
				"dependencies in /package.json.", name, from)
	}
	hint := ""
	if strings.HasPrefix(spec, "@") && r.hasViteConfig() {
		hint = " If it is an alias, define it in compilerOptions.paths of tsconfig.json."
	}
	return failf(failure.DependencyNotFound,
		"The package %q is not installed.%s Add it to dependencies in /package.json.%s", name, from, hint)
}

func (r *resolver) hasViteConfig() bool {
	for _, ext := range []string{"js", "ts", "mjs", "mts", "cjs", "cts"} {
		if r.has("/vite.config." + ext) {
			return true
		}
	}
	return false
}

// builtin returns the target of a module of Node.js. Packages often import one that they do not need in a browser.
func (r *resolver) builtin(ref reference) (target, error) {
	if strings.HasPrefix(ref.importer, "/node_modules/") {
		return target{file: ref.specifier, kind: toEmpty}, nil
	}
	return target{}, failf(failure.BuildFailed,
		"%s is a module of Node.js, which browsers do not have. Remove the import.",
		quote(ref.specifier))
}

var builtins = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq(`assert async_hooks buffer child_process cluster console constants crypto dgram dns
		domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl
		stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib`) {
		builtins[name] = true
	}
}
