package dynamodb

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"devplatform/infra/local/awsjson"
	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/datafolder/disktest"
)

// TestMain also runs the child process of TestKill.
func TestMain(m *testing.M) {
	disktest.ServeChild(func(folder *datafolder.Folder) (http.Handler, error) {
		return Open(Options{Folder: folder, Now: time.Now})
	})
	os.Exit(m.Run())
}

func post(url, operation, body string) error {
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", awsjson.Version10)
	request.Header.Set("X-Amz-Target", targetPrefix+operation)
	request.Header.Set("X-Amz-Date", "20261120T120000Z")
	request.Header.Set("Authorization", testAuthorization)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// TestKill checks that kill -9 during writes loses no acknowledged write and no stream record, and that another process
// cannot open the folder of a running one.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	child, url := disktest.StartChild(t, dir)
	streamed := strings.Replace(hashTable, `{"TableName"`, `{"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"},"TableName"`, 1)
	if err := post(url, "CreateTable", streamed); err != nil {
		t.Fatal(err)
	}
	if _, err := datafolder.Open(datafolder.Options{Dir: dir}); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("a second process got: %v", err)
	}
	var mutex sync.Mutex
	acknowledged := map[string]bool{}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("%d-%d", worker, i)
				if post(url, "PutItem", `{"TableName":"hash","Item":{"pk":{"S":"`+key+`"}}}`) != nil {
					return
				}
				mutex.Lock()
				acknowledged[key] = true
				enough := len(acknowledged) == 300
				mutex.Unlock()
				if enough {
					if err := child.Process.Kill(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	_ = child.Wait()
	db := openTest(t, func(o *Options) { o.Folder, o.Now = disktest.Open(t, dir, nil), time.Now })
	s := streamingOf(t, db, nil)
	records := map[string]int{}
	for _, record := range s.all(t, s.latest(t, "hash")) {
		records[brief([]streamtypes.Record{record})]++
	}
	for key := range acknowledged {
		if n := records["INSERT "+key]; n != 1 {
			t.Errorf("%s was acknowledged and has %d records", key, n)
		}
		if got := must(t, db, "GetItem", `{"TableName":"hash","Key":{"pk":{"S":"`+key+`"}}}`); got.body["Item"] == nil {
			t.Errorf("%s was acknowledged and is gone", key)
		}
	}
}
