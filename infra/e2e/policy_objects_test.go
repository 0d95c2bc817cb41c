package e2e

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"devplatform/infra/local/s3"
)

// signLocally replaces the signature of a request to S3, or of its presigned URL. The embedded S3 accepts one access
// key, but each function has another one here.
func (w *watched) signLocally(r *http.Request) {
	r.Header.Del("Authorization")
	query := r.URL.Query()
	if s3.IsPresigned(query) {
		for name := range query {
			if strings.HasPrefix(name, "X-Amz-") {
				query.Del(name)
			}
		}
		r.URL.RawQuery = query.Encode()
		r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	}
	keys := aws.Credentials{AccessKeyID: s3.AccessKeyID, SecretAccessKey: s3.SecretKey}
	err := v4.NewSigner().SignHTTP(r.Context(), keys, r, r.Header.Get("X-Amz-Content-Sha256"), "s3", "us-east-1", time.Now(),
		func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err != nil {
		w.t.Error(err)
	}
}

// objectPermissions returns the permissions that a request to S3 needs. The resource of an object is the first folder
// of its key, and of an export also the kind of its owner. A function may list only the prefix in the condition of its
// permission.
func (w *watched) objectPermissions(r *http.Request, body []byte) []permission {
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	bucket := w.logicalID(name)
	onObject := func(action, key string) permission {
		folder, rest, _ := strings.Cut(key, "/")
		if owner, _, isExport := strings.Cut(rest, "_"); isExport && folder == "exports" {
			folder += "/" + owner + "_"
		} else {
			folder += "/"
		}
		return permission("s3:" + action + " " + bucket + "/" + folder + "*")
	}
	query := r.URL.Query()
	switch {
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && key != "":
		return []permission{onObject("GetObject", key)}
	case r.Method == http.MethodPut && key != "":
		return []permission{onObject("PutObject", key)}
	case query.Get("list-type") == "2":
		folder, _, _ := strings.Cut(query.Get("prefix"), "/")
		if !slices.Contains([]string{"contents", "sites", "exports"}, folder) {
			w.t.Errorf("the function lists the prefix %q of %s, want one that its role allows", query.Get("prefix"), bucket)
		}
		return []permission{permission("s3:ListBucket " + bucket)}
	case r.Method == http.MethodPost && query.Has("delete"):
		var document struct{ Object []struct{ Key string } }
		if err := xml.Unmarshal(body, &document); err != nil {
			w.t.Error(err)
		}
		var all []permission
		for _, o := range document.Object {
			all = append(all, onObject("DeleteObject", o.Key))
		}
		return all
	}
	return []permission{permission("s3:? " + r.Method + " " + r.URL.String())}
}
