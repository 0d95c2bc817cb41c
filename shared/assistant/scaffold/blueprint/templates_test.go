package blueprint

import "testing"

func TestTidy(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                             "\n",
		"a":                            "a\n",
		"f({\n\n  a: [\n\n\n  ]\n\n})": "f({\n  a: [\n  ]\n})\n",
		"\n\n a  \n\n\n\nb\t\r\n\n\n":  " a\n\nb\n",
	} {
		if got := tidy(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestQuoting(t *testing.T) {
	t.Parallel()
	if got, want := jsString("it's \\ \n\u2028"), `'it\'s \\ \n\u2028'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := htmlText(`<a href="x">&'`), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
