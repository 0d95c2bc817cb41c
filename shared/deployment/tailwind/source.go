package tailwind

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"devplatform/shared/deployment/glob"
)

// Source selects files with names of classes or, if it is negated, excludes files. Pattern is a pattern, or the path of
// a file or a folder. It is relative to Base, unless it begins with a slash.
type Source struct {
	Base    string `json:"base"`
	Pattern string `json:"pattern"`
	Negated bool   `json:"negated"`
}

// Tailwind CSS does not scan the following folders and files, unless a source names them.
var (
	ignoredFolders = strings.Fields(`.git .hg .jj .next .parcel-cache .pnpm-store .svelte-kit .svn .turbo .venv .vercel
		.yarn __pycache__ node_modules venv`)
	ignoredNames      = regexp.MustCompile(`^(package-lock\.json|pnpm-lock\.yaml|bun\.lockb|\.gitignore|\.env(\..*)?)$`)
	ignoredExtensions = strings.Fields("less lock sass scss styl log")
	// binaryExtensions are the extensions of files that contain no text.
	binaryExtensions = strings.Fields(`3dm 3ds 3g2 3gp 7z a aac adp ai aif aiff alz ape apk appimage ar arj asf au avi
		avif bak baml bh bin bk bmp btif bz2 bzip2 cab caf cgm class cmx cpio cr2 cur dat db dcm deb dex djvu dll dmg dng
		doc docm docx dot dotm dra DS_Store dsk dts dtshd dvb dwg dxf ecelp4800 ecelp7470 ecelp9600 egg eol eot epub exe
		exr f4v fbs fh fla flac flatpak fli flv fpx fst fvt g3 geojson gh gif graffle gz gzip h261 h263 h264 hdr icns ico
		ief img ipa iso jar jpeg jpg jpgv jpm jxr key ktx lha lib lockb lvp lz lzh lzma lzo m3u m4a m4v mar mdi mht mid
		midi mj2 mka mkv mmr mng mobi mov movie mp3 mp4 mp4a mpeg mpg mpga mxu nef node npx numbers nupkg o oa odp ods odt
		oga ogg ogv otf ott pages pbm pcx pdb pdf pea pgm pic plist png pnm pot potm potx ppa ppam ppm pps ppsm ppsx ppt
		pptm pptx psd pya pyc pyo pyv qt rar ras raw resources rgb rip rlc rmf rmvb rpm rtf rz s3m s7z scpt sgi shar sil
		sketch slk smv snap snk so sqlite sqlite3 stl storedata sub suo swf symbolsarchive tar tbz tbz2 tga tgz thmx tif
		tiff tlz ttc ttf txz udf uvh uvi uvm uvp uvs uvu viv vob war wasm wav wax wbmp wdp weba webm webp whl wim wm wma
		wmv wmx woff woff2 wrm wvx xbm xif xla xlam xls xlsb xlsm xlsx xlt xltm xltx xm xmind xpi xpm xwd xz z zip zipx`)
)

// Extension returns the extension of a file without its dot.
func Extension(name string) string { return strings.TrimPrefix(path.Ext(name), ".") }

func isBinary(name string) bool { return slices.Contains(binaryExtensions, Extension(name)) }

// isIgnored reports whether a file is scanned only if a source names it.
func isIgnored(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), isIgnoredFolder) ||
		ignoredNames.MatchString(path.Base(name)) || slices.Contains(ignoredExtensions, Extension(name)) || isBinary(name)
}

func isIgnoredFolder(name string) bool { return slices.Contains(ignoredFolders, name) }

// Files returns the files that the sources select. names are all files of a project and its packages. If several
// sources match a file, the last one decides. gitignore is the project's file .gitignore.
func Files(names []string, sources []Source, gitignore []byte) []string {
	ignored := parseIgnore(gitignore)
	selected := map[string]bool{}
	for _, s := range sources {
		pattern := path.Join("/", s.Base, s.Pattern)
		if strings.HasPrefix(s.Pattern, "/") {
			pattern = path.Clean(s.Pattern)
		}
		folder := strings.TrimSuffix(pattern, "/**/*")
		isFolder := folder != pattern && !strings.ContainsAny(folder, "*{") || !strings.ContainsAny(pattern, "*{")
		// A folder that is ignored is scanned if a source names it.
		isNamed := isFolder && (slices.ContainsFunc(strings.Split(folder, "/"), isIgnoredFolder) || ignored.matches(folder))
		for _, name := range names {
			isInside := isFolder && strings.HasPrefix(name, strings.TrimSuffix(folder, "/")+"/")
			matches := glob.Match(pattern, name)
			switch {
			case !isInside && !matches:
			case s.Negated:
				delete(selected, name)
			case !isInside, isNamed && !isBinary(name), !isNamed && !isIgnored(name) && !ignored.matches(name):
				selected[name] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !selected[name] })
}

// Glob returns the files that patterns of Tailwind CSS 3 match. A pattern that begins with an exclamation mark excludes
// files.
func Glob(names, patterns []string, base string) []string {
	var all []string
	for _, name := range names {
		isIncluded, isExcluded := false, false
		for _, pattern := range patterns {
			pattern, isNegated := strings.CutPrefix(pattern, "!")
			if !strings.HasPrefix(pattern, "/") {
				pattern = path.Join(base, pattern)
			}
			pattern = extendedGlob.ReplaceAllStringFunc(pattern, withoutExtendedGlob)
			if glob.Match(pattern, name) {
				isIncluded, isExcluded = isIncluded || !isNegated, isExcluded || isNegated
			}
			if isNegated { // a folder excludes the files in it
				isExcluded = isExcluded || glob.Match(pattern+"/**", name)
			}
		}
		if isIncluded && !isExcluded {
			all = append(all, name)
		}
	}
	return all
}

// extendedGlob matches a choice of patterns, such as @(js|ts).
var extendedGlob = regexp.MustCompile(`[@+?*!]\([^()]*\)`)

// withoutExtendedGlob returns a similar plain pattern for a choice of patterns. Instead of !(a) or *(a), it matches all
// names, which at most adds classes. Instead of repetitions, as in +(a), it matches only one.
func withoutExtendedGlob(choice string) string {
	all := strings.ReplaceAll(choice[2:len(choice)-1], "|", ",")
	switch choice[0] {
	case '@', '+':
		return "{" + all + "}"
	case '?':
		return "{" + all + ",}"
	}
	return "*"
}

// ignoreRules are the rules of a file .gitignore.
type ignoreRules []ignoreRule

type ignoreRule struct {
	pattern                 string
	isNegated, isFolderOnly bool
}

func parseIgnore(text []byte) (rules ignoreRules) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var r ignoreRule
		line, r.isNegated = strings.CutPrefix(line, "!")
		line, r.isFolderOnly = strings.CutSuffix(line, "/")
		r.pattern = path.Join("/", line)
		if !strings.Contains(line, "/") {
			r.pattern = "/**/" + line
		}
		rules = append(rules, r)
	}
	return rules
}

// matches reports whether a file, or a folder that contains it, is ignored.
func (rules ignoreRules) matches(name string) bool {
	for i := 1; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		isIgnored := false
		for _, r := range rules {
			if glob.Match(r.pattern, name[:i]) && (!r.isFolderOnly || i < len(name)) {
				isIgnored = !r.isNegated
			}
		}
		if isIgnored {
			return true
		}
	}
	return false
}
