package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// object is a JSON object of a request.
type object map[string]any

func (o object) String() string {
	data, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// newProject creates a project and answers its id.
func (c *client) newProject(name string, fields object) string {
	c.t.Helper()
	body := object{"name": name}
	for key, value := range fields {
		body[key] = value
	}
	id, _ := c.do("POST", "/api/projects", body.String()).want(c.t, http.StatusCreated)["id"].(string)
	return id
}

// save writes a text file and answers its record.
func (c *client) save(project, path, content string, header ...string) answer {
	c.t.Helper()
	return c.do("POST", "/api/projects/"+project+"/files", object{"path": path, "content": content}.String(), header...)
}

// list answers the objects of a list.
func (a answer) list(t testing.TB, name string) []map[string]any {
	t.Helper()
	var all []map[string]any
	values, ok := a.want(t, http.StatusOK)[name].([]any)
	if !ok {
		t.Fatalf("no list %s in %s", name, a.body)
	}
	for _, value := range values {
		one, _ := value.(map[string]any)
		all = append(all, one)
	}
	return all
}

// column answers one field of every object.
func column(objects []map[string]any, field string) string {
	var values []string
	for _, o := range objects {
		values = append(values, fmt.Sprint(o[field]))
	}
	return strings.Join(values, " ")
}

// TestProjects is the story of a project over both protocols, as its owner, a colleague and a stranger see it.
func TestProjects(t *testing.T) {
	t.Parallel()
	p := start(t)
	for name, base := range map[string]string{"plain": p.url, "secure": p.https} {
		t.Run(name, func(t *testing.T) {
			ada, grace := newClient(t, base), newClient(t, base)
			ada.signUp("ada" + name)
			graceID := grace.signUp("grace" + name)
			workspace, _ := ada.do("GET", "/api/workspaces", "").list(t, "workspaces")[0]["id"].(string)
			project := ada.newProject("Café Déjà", object{"visibility": "team", "framework": "react"})
			at := "/api/projects/" + project

			ada.save(project, "/src/app.tsx", "one").want(t, http.StatusCreated)
			ada.save(project, "/src/main.tsx", "two").want(t, http.StatusCreated)
			ada.save(project, "/README.md", "# Café").want(t, http.StatusCreated)
			saved := ada.save(project, "/src/app.tsx", "three")
			saved.want(t, http.StatusOK)
			if files := ada.do("GET", at+"/files", "").list(t, "files"); column(files, "path") != "/README.md /src/app.tsx /src/main.tsx" {
				t.Errorf("files: %v", files)
			}
			read := ada.do("GET", at+"/files?path=/src/app.tsx", "")
			if fields := read.want(t, http.StatusOK); fields["content"] != "three" || read.header.Get("ETag") != saved.header.Get("ETag") || read.header.Get("ETag") == "" {
				t.Errorf("read: %s, ETag %q", read.body, read.header.Get("ETag"))
			}
			ada.save(project, "/src/app.tsx", "four", `If-Match: "stale"`).wantError(t, http.StatusPreconditionFailed, "PRECONDITION_FAILED")
			ada.save(project, "/src", "a folder").wantError(t, http.StatusConflict, "CONFLICT")
			ada.do("POST", at+"/files/batch", `{"operations":[{"op":"rename","path":"/src/app.tsx","to":"/src/App.tsx"},{"op":"delete","path":"/nothing"}]}`).
				wantError(t, http.StatusNotFound, "FILE_NOT_FOUND")
			ada.do("POST", at+"/files/batch", `{"operations":[{"op":"rename","path":"/src/app.tsx","to":"/src/App.tsx"}]}`).want(t, http.StatusOK)
			if versions := ada.do("GET", at+"/files/history?path=/src/app.tsx", "").list(t, "versions"); column(versions, "current") != "false false" {
				t.Errorf("history: %v", versions)
			}

			grace.do("GET", at, "").wantError(t, http.StatusNotFound, "PROJECT_NOT_FOUND")
			ada.do("POST", "/api/workspaces/"+workspace+"/members", object{"username": "grace" + name, "role": "viewer"}.String()).want(t, http.StatusCreated)
			if seen := grace.do("GET", "/api/projects", "").list(t, "projects"); column(seen, "slug") != "cafe-deja" {
				t.Errorf("grace sees %v", seen)
			}
			grace.save(project, "/x", "x").wantError(t, http.StatusForbidden, "ACCESS_DENIED")
			ada.do("DELETE", "/api/workspaces/"+workspace+"/members/"+graceID, "").want(t, http.StatusOK)
			grace.do("GET", at, "").wantError(t, http.StatusNotFound, "PROJECT_NOT_FOUND")

			ada.do("POST", at+"/comments", `{"body":"Nice.","path":"/src/App.tsx","line":1}`).want(t, http.StatusCreated)
			feed := ada.do("GET", at+"/events", "").list(t, "events")
			if got, want := column(feed, "type"), "comment.created file.created file.deleted file.updated file.created file.created file.created project.created"; got != want {
				t.Errorf("feed: %s, want %s", got, want)
			}

			ada.do("DELETE", at, "").want(t, http.StatusOK)
			for _, path := range []string{at, at + "/files", at + "/files?path=/README.md", at + "/events", at + "/comments", at + "/files/history?path=/README.md"} {
				ada.do("GET", path, "").wantError(t, http.StatusNotFound, "PROJECT_NOT_FOUND")
			}
			ada.save(project, "/late", "late").wantError(t, http.StatusNotFound, "PROJECT_NOT_FOUND")
			eventually(t, "the clean-up of the deleted project", func() bool { return p.held(project) == 0 })
		})
	}
}

// held counts what the tables still hold of a project, its feed apart.
func (p *platform) held(project string) int {
	p.t.Helper()
	client := p.dynamodb()
	items := 0
	for _, table := range []string{"local-ProjectsTable", "local-ContentsTable", "local-ConversationsTable"} {
		pages := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{
			TableName: &table, KeyConditionExpression: aws.String("pk = :pk"), Select: types.SelectCount, ConsistentRead: aws.Bool(true),
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: "PROJECT#" + project}},
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(p.t.Context())
			if err != nil {
				p.t.Fatal(err)
			}
			items += int(page.Count)
		}
	}
	return items
}

// dynamodb is the SDK's client for the platform's AWS port.
func (p *platform) dynamodb() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &p.aws, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

// TestCleanupSurvivesKill kills the whole platform with a project just deleted, again and again: whoever reads the stream goes on
// where they were, and the project is gone in the end.
func TestCleanupSurvivesKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := startIn(t, dir)
	c := newClient(t, p.url)
	c.signUp("ada")
	var projects []string
	for i := range 3 {
		c.login("ada").want(t, http.StatusOK)
		project := c.newProject(fmt.Sprint("Project ", i), nil)
		projects = append(projects, project)
		for batch := range 5 {
			var operations []object
			for file := range 20 {
				operations = append(operations, object{"op": "create", "path": fmt.Sprintf("/%d/%d.txt", batch, file), "content": strings.Repeat("x", file)})
			}
			c.do("POST", "/api/projects/"+project+"/files/batch", object{"operations": operations}.String()).want(t, http.StatusOK)
		}
		c.do("DELETE", "/api/projects/"+project, "").want(t, http.StatusOK)
		p.kill()
		p = startIn(t, dir)
		c = newClient(t, p.url)
	}
	for _, project := range projects {
		eventually(t, "the clean-up after a kill", func() bool { return p.held(project) == 0 })
	}
}

// TestLargeFile sends 1 MiB that nothing compresses through the whole platform and back.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	p := start(t)
	c := newClient(t, p.url)
	c.signUp("ada")
	project := c.newProject("Large", nil)
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	content := base64.StdEncoding.EncodeToString(noise)
	c.do("POST", "/api/projects/"+project+"/files", object{"path": "/noise.bin", "content": content, "encoding": "base64"}.String()).want(t, http.StatusCreated)
	if read := c.do("GET", "/api/projects/"+project+"/files?path=/noise.bin", "").want(t, http.StatusOK); read["content"] != content || read["encoding"] != "base64" {
		t.Errorf("came back as %v of %d bytes", read["encoding"], len(fmt.Sprint(read["content"])))
	}
	// What would be twice as large as JSON comes as base64.
	quotes := strings.Repeat("\x01\"", 1<<18)
	c.save(project, "/quotes.txt", quotes).want(t, http.StatusCreated)
	read := c.do("GET", "/api/projects/"+project+"/files?path=/quotes.txt", "").want(t, http.StatusOK)
	if read["encoding"] != "base64" || read["content"] != base64.StdEncoding.EncodeToString([]byte(quotes)) {
		t.Errorf("quotes came back as %v of %d bytes", read["encoding"], len(fmt.Sprint(read["content"])))
	}
	c.save(project, "/too-large.txt", strings.Repeat("x", 1<<20+1)).wantError(t, http.StatusBadRequest, "VALIDATION_FAILED")
}

// TestWritersMeet lets many clients write one file on a condition: each version is replaced by exactly one of them.
func TestWritersMeet(t *testing.T) {
	t.Parallel()
	p := start(t)
	c := newClient(t, p.url)
	c.signUp("ada")
	project := c.newProject("Crowded", nil)
	etag := c.save(project, "/a.txt", "first").header.Get("ETag")
	var wg sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for i := range 12 {
		wg.Go(func() {
			a := c.save(project, "/a.txt", fmt.Sprint("writer ", i), "If-Match: "+etag)
			mu.Lock()
			defer mu.Unlock()
			statuses[a.status]++
		})
	}
	wg.Wait()
	if statuses[http.StatusOK] != 1 || statuses[http.StatusOK]+statuses[http.StatusPreconditionFailed]+statuses[http.StatusConflict] != 12 {
		t.Errorf("answers by status: %v", statuses)
	}
	if versions := c.do("GET", "/api/projects/"+project+"/files/history?path=/a.txt", "").list(t, "versions"); column(versions, "current") != "true false" {
		t.Errorf("history: %v", versions)
	}
}
