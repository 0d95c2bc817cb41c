package tree

import (
	"bytes"
	"path"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The manifests that keep bundlers from using manifests of folders above: a package.json for projects without one, and
// a manifest of Yarn that applies to no file, which is above the files.
const (
	rootManifest      = "/package.json"
	emptyManifest     = `{"browser":{}}`
	yarnManifest      = ".pnp.data.json"
	emptyYarnManifest = `{"packageRegistryData":[],"ignorePatternData":""}`
)

const (
	// maxManifest is the maximum size of a manifest in bytes. A larger manifest is empty in the archive.
	maxManifest = 1 << 20
	// emptyFile is a file beside a manifest that replaces modules.
	emptyFile = "__deployment_empty.js"
)

// JSON are the options for manifests. They accept invalid UTF-8 and duplicate names, as bundlers do. The last value of
// a name counts. Bundlers may use another one, so they read only what safeManifest returns.
var JSON = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// PackageFolder is the folder in which packages are, in the project and in packages.
const PackageFolder = "/node_modules/"

// IsInPackage reports whether a file belongs to a package.
func IsInPackage(file string) bool { return strings.HasPrefix(file, PackageFolder) }

// PackageOf returns the folder of the package to which a file belongs, such as "/node_modules/a/node_modules/@b/c", and
// the name of the package.
func PackageOf(file string) (folder, name string) {
	start := strings.LastIndex(file, PackageFolder) + len(PackageFolder)
	parts := strings.SplitN(file[start:], "/", 3)
	n := 1
	if strings.HasPrefix(parts[0], "@") {
		n = min(2, len(parts))
	}
	name = strings.Join(parts[:n], "/")
	return file[:start] + name, name
}

// safeManifest returns the package.json for the bundler, which accepts more than JSON and reads the first of equal
// keys. The result names no file outside of the package or the project in the fields main, module, browser and svelte,
// because the bundler would look for the file. If the field browser replaces a module with nothing, the bundler does
// not report it to its caller, so the result replaces the module with an empty file. needsEmpty reports whether there
// is such a module.
func safeManifest(name string, data []byte) (safe []byte, needsEmpty bool) {
	var all map[string]jsontext.Value
	if json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &all, JSON) != nil || all == nil {
		return []byte(emptyManifest), false
	}
	if name == rootManifest && !bytes.HasPrefix(all["browser"], []byte("{")) {
		all["browser"] = jsontext.Value("{}") // otherwise bundlers would use the field of a folder above
	}
	for _, field := range []string{"main", "module", "browser", "svelte", "sideEffects"} {
		raw, ok := all[field]
		if !ok {
			continue
		}
		var target any
		_ = json.Unmarshal(raw, &target, JSON) // it is JSON
		switch target := target.(type) {
		case string:
			if field != "sideEffects" && !isInside(name, target) {
				delete(all, field)
				continue
			}
		case map[string]any:
			for from, to := range target {
				text, isText := to.(string)
				switch {
				case !isInside(name, from), isText && !isInside(name, text):
					delete(target, from)
				case to == false:
					target[from] = "./" + emptyFile
					needsEmpty = true
				}
			}
		}
		// Without halves of surrogate pairs, with which the bundler would panic.
		all[field], _ = json.Marshal(target, JSON, json.Deterministic(true))
	}
	safe, err := json.Marshal(all, JSON, json.Deterministic(true))
	if err != nil {
		return nil, false // the values are JSON
	}
	return safe, needsEmpty
}

// isInside reports whether a path in a manifest is in the package of the manifest, or in the project.
func isInside(manifest, target string) bool {
	home := ""
	if IsInPackage(manifest) {
		home, _ = PackageOf(manifest)
	}
	file := "/" + path.Join(path.Dir(manifest)[1:], target)
	return !strings.HasPrefix(target, "/") && !strings.ContainsAny(target, "\\\x00") && file != "/.." &&
		!strings.HasPrefix(file, "/../") && strings.HasPrefix(file+"/", home+"/")
}
