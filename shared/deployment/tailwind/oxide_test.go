package tailwind

import (
	"bytes"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"devplatform/infra/npmtest"
)

// scan is a program that returns the candidates that the scanner of Tailwind CSS finds in each content.
const scan = `
const { Scanner } = require("@tailwindcss/oxide")
let input = ""
process.stdin.on("data", (data) => { input += data }).on("end", () => {
	process.stdout.write(JSON.stringify(JSON.parse(input).map(({ content, extension }) =>
		new Scanner({}).scanFiles([{ content, extension }]).sort())))
})`

type sample struct {
	Content   string `json:"content"`
	Extension string `json:"extension"`
}

// oxide returns what the scanner of Tailwind CSS finds.
func oxide(t *testing.T, samples []sample) [][]string {
	t.Helper()
	folder := npmtest.Need(t, os.DirFS("../../../infra/compilers"))
	input, err := json.Marshal(samples)
	if err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", "-e", scan)
	node.Dir, node.Stdin, node.Stderr = folder, bytes.NewReader(input), os.Stderr
	output, err := node.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	if err := json.Unmarshal(output, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// The scanner finds the same as the scanner of Tailwind CSS in the files of the repository, and in random texts.
func TestOxide(t *testing.T) {
	t.Parallel()
	var samples []sample
	err := filepath.WalkDir("../../..", func(name string, d fs.DirEntry, err error) error {
		ext := strings.TrimPrefix(filepath.Ext(name), ".")
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." { // the root folder has the name ..
			return filepath.SkipDir
		}
		if slices.Contains([]string{"ts", "tsx", "jsx", "js", "html", "vue", "svelte", "md", "json"}, ext) {
			data, err := os.ReadFile(name)
			if err == nil && len(data) < 200_000 {
				samples = append(samples, sample{string(data), ext})
			}
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	parts := strings.Fields("flex -mt-2.5 hover: [&>p]: [color:red] bg-[url('a b')] /50 /[x] ! @md: [ ] ( ) { } ' \" ` \\ . : - _ " +
		"text-(--a) text-(length:--b,1px) w-1/2 <a A --x $ ${ = > 50% 1.5 data-[a=b]: group/name é , ; # * **: * ?")
	for range 3000 {
		var text strings.Builder
		for range 1 + random.IntN(12) {
			text.WriteString(parts[random.IntN(len(parts))])
			if random.IntN(4) == 0 {
				text.WriteByte(' ')
			}
		}
		samples = append(samples, sample{text.String(), []string{"html", "svelte", "md", "json"}[random.IntN(4)]})
	}
	failures := 0
	for i, want := range oxide(t, samples) {
		set := map[string]bool{}
		Candidates(set, samples[i].Extension, []byte(samples[i].Content))
		if got := slices.Sorted(maps.Keys(set)); !slices.Equal(got, want) && failures < 10 {
			failures++
			missing := slices.DeleteFunc(slices.Clone(want), func(s string) bool { return set[s] })
			more := slices.DeleteFunc(got, func(s string) bool { return slices.Contains(want, s) })
			t.Errorf("%.200q (%s)\nmissing %.300q\nmore %.300q", samples[i].Content, samples[i].Extension, missing, more)
		}
	}
}
