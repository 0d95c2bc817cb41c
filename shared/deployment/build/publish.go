package build

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/site/rule"
)

// sitePath returns the path at which a file of the project is published, and whether the file is in /public. ok is
// false if the file is not in a folder of the site.
func (p *project) sitePath(file string) (name string, isPublic, ok bool) {
	if rest, found := strings.CutPrefix(file, p.public+"/"); found {
		return "/" + rest, true, true
	}
	if rest, found := strings.CutPrefix(file, p.web+"/"); found {
		return "/" + rest, false, true
	}
	return file, false, false
}

// copyFiles publishes the files that are published without the bundler. Later, pages replace their sources, and the
// files of apps that the bundler has read are removed.
func (p *project) copyFiles(s *pages) {
	var tools, keys, sources []string
	for _, file := range p.names {
		name, public, ok := p.sitePath(file)
		switch {
		case !ok:
		case keyFiles.MatchString(file):
			keys = append(keys, file)
		case isRules(name) && (public || !p.has(p.public+name)):
			p.rules[name] = file
		case isNeverPublished(name):
			tools = append(tools, file)
		case !public && p.has(p.public+name):
		case !p.isApp || public || s.links[file]:
			p.output[name] = outputFile{Source: file}
		case secretFiles.MatchString(file):
			keys = append(keys, file)
		case isSource(name):
			if !strings.HasPrefix(name, "/src/") && !scriptFiles.MatchString(file) {
				sources = append(sources, file)
			}
		default:
			p.output[name] = outputFile{Source: file}
		}
	}
	p.noteUnpublished("files that are never published", tools)
	p.noteUnpublished("sources and files of tools", sources)
	for _, name := range keys {
		p.warnings.add("%s: The file was not published, because files with such names often contain secrets. Rename it if "+
			"visitors of the site may read it.", name)
	}
}

// noteUnpublished adds a line about files that are not published.
func (p *project) noteUnpublished(kind string, names []string) {
	const maxNames = 20
	if len(names) == 0 {
		return
	}
	text := strings.Join(names[:min(len(names), maxNames)], ", ")
	if len(names) > maxNames {
		text += fmt.Sprintf(" and %d more", len(names)-maxNames)
	}
	p.notes.add("Not published (%s): %s", kind, text)
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

var (
	// keyFiles are files that contain keys. They are never published.
	keyFiles = regexp.MustCompile(`(?i)\.(pem|key|p12|pfx|jks|kdbx)$|/id_rsa[^/]*$`)
	// secretFiles matches other files that contain keys, settings of servers, or backups more often than content.
	secretFiles = regexp.MustCompile(`(?i)\.(p8|keystore|env|ppk|ovpn)$|` +
		`\.tfstate(\.backup)?$|\.tfvars(\.json)?$|\.(sql|dump|bak)(\.(gz|zip))?$|` +
		`/(id_(dsa|ecdsa|ed25519)|credentials(\.json)?|secrets?\.(json|ya?ml)|service[-_]?account[^/]*\.json|` +
		`[^/]*firebase-adminsdk[^/]*\.json|appsettings[^/]*\.json|application(-[^/]*)?\.properties|web\.config)$`)
	// manifestFiles are the files that describe a project, in any folder. They are never published.
	manifestFiles = regexp.MustCompile(`(?i)/(package(-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|` +
		`tsconfig[^/]*\.json|_redirects|_headers)$`)
)

// isRules reports whether a file of the site has rules for its server.
func isRules(published string) bool {
	return published == rule.RedirectsFile || published == rule.HeadersFile
}

// isExcluded reports whether every build leaves a file out: the file is not published and not bundled.
func isExcluded(name string) bool {
	return isPrivate(name) || keyFiles.MatchString(name) || manifestFiles.MatchString(name)
}

// isNeverPublished reports whether no site has a file at a path. The folder .well-known must be at the root.
func isNeverPublished(name string) bool {
	return isExcluded(name) || strings.LastIndex(name, "/.well-known/") > 0
}

var sourceExtensions = wordSet(`ts tsx jsx mts cts vue svelte astro mdx scss sass less styl coffee md markdown lock go
	mod sum py rb php java kt rs c h cpp cs swift sh bash bat ps1 sql toml ini conf cfg prisma graphql tmpl ejs pug hbs db
	sqlite sqlite3 tsbuildinfo`)

var (
	// toolFiles are files of tools in any folder.
	toolFiles = regexp.MustCompile(`(?i)/(pnpm-.*\.yaml|jsconfig[^/]*\.json|` +
		`[^/]*\.config\.(js|cjs|mjs|json)|components\.json|deno\.jsonc?|vercel\.json|netlify\.toml|firebase\.json|` +
		`(docker-)?compose[^/]*\.ya?ml|dockerfile[^/]*|makefile|procfile|(readme|license|changelog)(\.(md|txt))?)$`)
	testFiles   = regexp.MustCompile(`/(__tests__|__mocks__)/|\.(test|spec|stories)\.[a-z]+$`)
	appFolders  = regexp.MustCompile(`^/(src|dist|build|out|coverage|test|tests|scripts|server|api|e2e|cypress)/`)
	scriptFiles = regexp.MustCompile(`\.(js|mjs|cjs)$`)
)

// isSource reports whether a file of an app outside of /public is source: a script, a test, a file of a tool, or a file
// in a folder such as /src or /dist.
func isSource(name string) bool {
	ext := strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".")
	return sourceExtensions[ext] || toolFiles.MatchString(name) || testFiles.MatchString(name) ||
		appFolders.MatchString(name) || scriptFiles.MatchString(name)
}

// addBundle adds the files of the bundler. In apps, it removes the files that the bundler has read, unless pages refer
// to them. Images and other data in folders other than /src stay, because scripts can load them by their paths. In
// static projects, all files stay: a service worker or a script can load them by their paths.
func (p *project) addBundle(s *pages, b *bundleResult) {
	for file := range b.inputs {
		name, public, _ := p.sitePath(file)
		if p.isApp && !public && !s.links[file] && p.output[name].Source == file &&
			(isCode(name) || strings.HasPrefix(name, "/src/")) {
			delete(p.output, name)
		}
	}
	for name, data := range b.files {
		if !p.has(p.public + name) {
			p.output[name] = outputFile{data: data, Hashed: true}
		}
	}
}

// addPages adds the pages with references to the bundled files.
func (p *project) addPages(s *pages, b *bundleResult) error {
	for _, page := range s.list {
		if _, ok := b.files[page.path]; ok {
			return failf(failure.BuildFailed, "The page %s has the path of a bundled file. Rename it.", page.path)
		}
		p.output[page.path] = outputFile{data: page.render(b)}
	}
	return nil
}
