package engine

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/evanw/esbuild/pkg/api"
)

// start returns an engine that has loaded a program.
func start(t *testing.T, limit time.Duration, code string) (*Engine, error) {
	t.Helper()
	e, err := New(limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e, e.Load(code, nil)
}

// run returns what the function f of a program returns.
func run(t *testing.T, limit time.Duration, code string) (out any, err error) {
	t.Helper()
	e, err := start(t, limit, code)
	if err != nil {
		return nil, err
	}
	return out, e.Call("f", []string{"in"}, &out)
}

func TestCall(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]any{
		`async function f([a]) { await null; return a + "put" }`: "input",
		`f = (a) => a.concat("x").join()`:                        "in,x",
		`f = () => { const a = { b: [new Map([[1, new Set([2])]]), /x/g] }; a.a = a; const c = structuredClone(a)
			return [c !== a, c.a === c, c.b !== a.b, [...c.b[0].get(1)][0], c.b[1].flags].join() }`: "true,true,true,2,g",
		`f = () => ["", "a", "ab", "abc", "abc\xff"].map((s) => btoa(s) + atob(btoa(s))).join()`: ",YQ==a,YWI=ab,YWJjabc,YWJj/w==abc\u00ff",
		`f = () => undefined`: nil,
		`f = () => "\ud800a"`: "\ufffda",
		`f = () => new Promise((resolve) => Promise.resolve().then(() => resolve(1)))`: 1.0,
	} {
		if got, err := run(t, time.Minute, code); got != want || err != nil {
			t.Errorf("%s: got %v, %v, want %v", code, got, err, want)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		`f = () => { throw new Error("a") }`:                   "Error: a",
		`f = async () => { await null; throw "b" }`:            "b",
		`f = () => null.x`:                                     "TypeError: cannot read property 'x' of null",
		`f = () => new Promise(() => {})`:                      "a promise is never settled",
		`f = () => { throw { toString() { throw "again" } } }`: "",
		`f = () => ({ toJSON() { return Symbol() } })`:         "the result is not a JSON value",
		`Promise.prototype.then = (g) => g("x"); f = () => 1`:  "the result does not have the expected form",
		`f = () => import("/etc/passwd")`:                      "ReferenceError: could not load module '/etc/passwd'",
		`f = (`:                                                "SyntaxError: unexpected token in expression: ''",
	} {
		_, err := run(t, time.Minute, code)
		if failed, ok := errors.AsType[*Error](err); !ok || failed.Message != want {
			t.Errorf("%s: got %v, want %q", code, err, want)
		}
	}
}

// Programs that never end are stopped by a short limit. The others reach the limit that the test names.
func TestHostile(t *testing.T) {
	t.Parallel()
	const short, long = 200 * time.Millisecond, time.Minute
	for name, c := range map[string]struct {
		limit time.Duration
		code  string
		want  error
	}{
		"loop":              {short, `for (;;);`, ErrTime},
		"caught loop":       {short, `f = () => { for (;;) try { for (;;); } catch {} finally { for (;;); } }`, ErrTime},
		"jobs":              {short, `f = () => new Promise(() => { const again = () => Promise.resolve().then(again); again() })`, ErrTime},
		"async generator":   {short, `f = async () => { for await (const x of (async function* () { for (;;) yield 1 })()); }`, ErrTime},
		"toString":          {short, `f = () => { throw { toString() { for (;;); } } }`, ErrTime},
		"getter":            {short, `f = () => ({ get x() { for (;;); } })`, ErrTime},
		"then":              {short, `Promise.prototype.then = () => { for (;;); }; f = () => 1`, ErrTime},
		"expression":        {short, `f = () => /^(a+)+$/.test("a".repeat(60) + "b")`, ErrTime},
		"replace":           {short, `f = () => "a".repeat(1e5).replace(/(a*)*b/g, "")`, ErrTime},
		"sort":              {short, `f = () => [3, 2, 1].sort(() => { for (;;); })`, ErrTime},
		"built-in function": {short, `f = () => [].reverse.call({ length: 1e15 })`, ErrTime},
		"built-in loop":     {short, `for (;;) try { [].indexOf.call({ length: 1e15 }, 1) } catch {}`, ErrTime},
		"arrays":            {long, `f = () => { const all = []; for (;;) all.push(new Uint8Array(1 << 20)) }`, ErrMemory},
		"buffer":            {long, `f = () => new ArrayBuffer(1 << 30)`, ErrMemory},
		"text":              {long, `f = () => { let s = "x"; for (;;) s += s + 1 }`, nil}, // longer than a text can be
		"calls":             {long, `f = () => f()`, ErrNesting},
		"getters":           {long, `f = () => ({ get x() { return this.x } }).x`, ErrNesting},
		"proxy":             {long, `f = () => { const p = new Proxy({}, {}); Object.setPrototypeOf(p, p); return p.x }`, nil},
		"JSON":              {long, `f = () => JSON.parse("[".repeat(1e6))`, ErrNesting},
		"nested result":     {long, `f = () => { let a = []; for (let i = 0; i < 6000; i++) a = [a]; return a }`, ErrNesting},
		"nested groups":     {long, `f = () => new RegExp("(".repeat(1e6))`, nil},
		"nested program":    {long, `f = () => (0, eval)("[".repeat(1e6))`, ErrNesting},
		"nested functions":  {long, `f = () => new Function("(()=>".repeat(1e5))`, ErrNesting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := run(t, c.limit, c.code)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// A program cannot reach what the machine knows, and two runs see the same.
func TestNothingOutside(t *testing.T) {
	t.Parallel()
	const code = `f = () => [
		typeof std, typeof os, typeof require, typeof fetch, typeof setTimeout, typeof print, typeof Worker,
		Object.keys(process.env).join(), Date.now(), new Date().getTime(), new Date().constructor.now(), Date(),
		Reflect.construct(Object.getPrototypeOf(new Date()).constructor, []).getTime(), performance.now(), Math.random(),
		new Date(2020, 1).getFullYear(), new (class extends Date {})().getTime(), Date.UTC(1970, 0, 2)].join()`
	first, err := run(t, time.Minute, code)
	second, again := run(t, time.Minute, code)
	const want = "undefined,undefined,undefined,undefined,undefined,undefined,undefined,NODE_ENV,0,0,0," +
		"Thu Jan 01 1970 00:00:00 GMT+0000,0,0,0.000022477936010098986,2020,0,86400000"
	if first != want || second != want || err != nil || again != nil {
		t.Errorf("got %v, %v\nand %v, %v\nwant %v", first, err, second, again, want)
	}
}

// What a program does to the built-in objects of its engine reaches no other engine.
func TestEnginesAreSeparate(t *testing.T) {
	t.Parallel()
	const attack = `Object.prototype.x = 1; Array.prototype.map = String.prototype.split = JSON.stringify = () => "bad";
		globalThis.y = 1; Object.freeze(globalThis); f = () => 1`
	if _, err := run(t, time.Minute, attack); err == nil { // globalThis is frozen before f is set
		t.Error("the program of the attack did not fail")
	}
	got, err := run(t, time.Minute, `f = () => [({}).x, typeof y, [1].map((n) => n + 1), "a,b".split(",").length].join()`)
	if got != ",undefined,2,2" || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// Functions of Go are called with texts, and their errors are exceptions.
func TestRegister(t *testing.T) {
	t.Parallel()
	e, err := start(t, time.Minute, `f = () => { try { return read("a", 1) } catch (e) { return "caught " + e.message } }`)
	if err != nil {
		t.Fatal(err)
	}
	err = e.Register("read", func(texts []string) (string, error) {
		return "", errors.New(strings.Join(texts, "+"))
	})
	var got string
	if err := errors.Join(err, e.Call("f", nil, &got)); err != nil || got != "caught a+" {
		t.Errorf("got %q, %v", got, err)
	}
}

// A built-in function that calls a function of Go again and again ends, too.
func TestRegisterHostile(t *testing.T) {
	t.Parallel()
	e, err := start(t, 200*time.Millisecond, `f = () => [].find.call({ length: 1e15 }, read)`)
	if err != nil {
		t.Fatal(err)
	}
	err = e.Register("read", func([]string) (string, error) { return "", nil })
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := e.Call("f", nil, nil); !errors.Is(err, ErrTime) {
			t.Errorf("got %v, want the limit of time", err)
		}
	}
}

// An error has the place in the source of the innermost program with a source map.
func TestPlaces(t *testing.T) {
	t.Parallel()
	e, err := start(t, time.Minute, "\n\nfunction compiler(f) { return f() }\nfunction broken() { throw new Error('c') }")
	if err != nil {
		t.Fatal(err)
	}
	out := api.Transform("type A = 1\n\nfunction config(): A {\n  return compiler(() => null.x)\n}\n"+
		"globalThis.f = config; globalThis.g = () => {\n broken() }", api.TransformOptions{
		Loader: api.LoaderTS, Sourcefile: "/tailwind.config.ts", Sourcemap: api.SourceMapExternal,
	})
	if err := e.Load(string(out.Code), out.Map); err != nil {
		t.Fatal(err)
	}
	if err := e.Load("function last() { f() }", nil); err != nil {
		t.Fatal(err)
	}
	for function, want := range map[string]Error{
		"last": {"TypeError: cannot read property 'x' of null", "/tailwind.config.ts", 4, 25},
		"g":    {"Error: c", "/tailwind.config.ts", 7, 2},
	} {
		err := e.Call(function, nil, nil)
		if failed, ok := errors.AsType[*Error](err); !ok || *failed != want {
			t.Errorf("%s: got %+v, %v, want %+v", function, failed, err, want)
		}
	}
}

// The limit holds for each of several calls if the time is reset between them, and stays reached once it is.
func TestReset(t *testing.T) {
	t.Parallel()
	e, err := start(t, 500*time.Millisecond, `f = (n) => { for (let i = 0; n > i; i++); }`)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		e.clock.used.Add(int64(400 * time.Millisecond))
		e.Reset()
	}
	if err := e.Call("f", 1, nil); errors.Is(err, ErrTime) {
		t.Error(err)
	}
	e.clock.used.Add(int64(time.Minute))
	e.Reset()
	if err := e.Call("f", 1, nil); !errors.Is(err, ErrTime) {
		t.Errorf("got %v, want the limit of time", err)
	}
}

// Bytecode runs only in the version of the interpreter that made it.
func TestCompilerVersion(t *testing.T) {
	t.Parallel()
	version, err := os.ReadFile("compilers/VERSION")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := os.ReadFile("../../../go.mod")
	if want := "modernc.org/libquickjs " + strings.TrimSpace(string(version)) + " "; err != nil ||
		!strings.Contains(string(modules), want) {
		t.Errorf("%v: go.mod does not have %s: run make compilers", err, want)
	}
}
