package build

import (
	"context"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"devplatform/shared/contenttype"
	"devplatform/shared/deployment/failure"
)

// copyFiles returns the files that are published without the bundler, and a warning for each file that is left out
// because it may contain secrets. Files of apps that the bundler has read are removed later.
func copyFiles(in Input, s *pages) (outputs, []string) {
	out := outputs{}
	isPage := map[string]bool{}
	for _, p := range s.pages {
		isPage[p.path] = true
	}
	var warnings []string
	for _, name := range slices.Sorted(maps.Keys(in.Files)) {
		published, public := strings.CutPrefix(name, "/public")
		if public = public && strings.HasPrefix(published, "/"); !public {
			published = name
		}
		_, hidden := in.Files["/public"+name]
		switch {
		case isPrivate(published), isPage[published], !public && (hidden || !s.links[name] && isSource(name, s.app)):
		case isSecret(name):
			warnings = append(warnings, name+": The file was not published, because files with such names often contain "+
				"secrets. Rename it if visitors of the site may read it.")
		default:
			out.add(published, in.Files[name])
		}
	}
	return out, warnings
}

func (o outputs) add(name string, data []byte) {
	o[name] = File{Path: name, Data: data, ContentType: contenttype.Of(name, utf8.Valid(data))}
}

// isPrivate reports whether a segment of the path begins with a dot, except .well-known, or is node_modules.
func isPrivate(name string) bool {
	for segment := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(segment, ".") && segment != ".well-known" || segment == "node_modules" {
			return true
		}
	}
	return false
}

// secret matches files that contain keys, settings of servers, or backups more often than content.
var secret = regexp.MustCompile(`(?i)\.(pem|key|p8|p12|pfx|keystore|jks|env|ppk|kdbx|ovpn)$|` +
	`\.tfstate(\.backup)?$|\.tfvars(\.json)?$|\.(sql|dump|bak)(\.(gz|zip))?$|` +
	`/(id_(rsa|dsa|ecdsa|ed25519)|credentials(\.json)?|secrets?\.(json|ya?ml)|service[-_]?account[^/]*\.json|` +
	`[^/]*firebase-adminsdk[^/]*\.json|appsettings[^/]*\.json|application(-[^/]*)?\.properties|web\.config)$`)

func isSecret(name string) bool { return secret.MatchString(name) }

var sourceExtensions = map[string]bool{}

func init() {
	for ext := range strings.FieldsSeq(`ts tsx jsx mts cts vue svelte astro mdx scss sass less styl coffee md markdown lock
		go mod sum py rb php java kt rs c h cpp cs swift sh bash bat ps1 sql toml ini conf cfg prisma graphql tmpl ejs pug hbs
		db sqlite sqlite3 tsbuildinfo`) {
		sourceExtensions["."+ext] = true
	}
}

var (
	// toolFiles are files of tools in any folder.
	toolFiles = regexp.MustCompile(`(?i)/(package(-lock)?\.json|npm-shrinkwrap\.json|bun\.lockb|pnpm-.*\.yaml|[jt]sconfig[^/]*\.json|` +
		`[^/]*\.config\.(js|cjs|mjs|json)|components\.json|deno\.jsonc?|vercel\.json|netlify\.toml|firebase\.json|` +
		`(docker-)?compose[^/]*\.ya?ml|dockerfile[^/]*|makefile|procfile|(readme|license|changelog)(\.(md|txt))?)$`)
	tests   = regexp.MustCompile(`/(__tests__|__mocks__)/|\.(test|spec|stories)\.[a-z]+$`)
	appDirs = regexp.MustCompile(`^/(src|dist|build|out|coverage|test|tests|scripts|server|api|e2e|cypress)/`)
	scripts = regexp.MustCompile(`\.(js|mjs|cjs)$`)
)

// isSource reports whether a file outside of /public is source. In an app, all scripts are, and everything in /src.
func isSource(name string, app bool) bool {
	if sourceExtensions[strings.ToLower(path.Ext(name))] || toolFiles.MatchString(name) || tests.MatchString(name) {
		return true
	}
	return app && (appDirs.MatchString(name) || scripts.MatchString(name))
}

// addBundle adds the files of the bundler. In apps, it removes the files that the bundler has read, unless pages refer
// to them. Images and other data in folders other than /src stay, because scripts can load them by their paths. In
// static projects, all stay: a service worker or a script can load each by its path.
func (o outputs) addBundle(in Input, s *pages, b bundled) {
	for _, name := range b.inputs {
		_, isCode := loaders[strings.ToLower(path.Ext(name))]
		_, public := in.Files["/public"+name]
		if s.app && !s.links[name] && !public && (isCode || strings.HasPrefix(name, "/src/")) {
			delete(o, name)
		}
	}
	for _, f := range b.files {
		if _, public := in.Files["/public"+f.Path]; !public {
			o[f.Path] = f
		}
	}
}

// addPages adds the pages with references to the bundled files.
func (o outputs) addPages(ctx context.Context, s *pages, b bundled) error {
	for i := range s.pages {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("write the pages: %w", err)
		}
		p := &s.pages[i]
		if !slices.ContainsFunc(b.files, func(f File) bool { return f.Path == p.path }) {
			o.add(p.path, p.render(b))
			continue
		}
		return failf(failure.BuildFailed, "The page %s has the path of a bundled file. Rename it.", p.path)
	}
	return nil
}
