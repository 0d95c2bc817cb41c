package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode"

	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
	"devplatform/shared/id"
	"devplatform/shared/objectstore"
	"devplatform/shared/project/path"
	"devplatform/shared/workspace"
)

const uploadsPath = "/api/projects/{id}/uploads"

func (s *Service) registerUploads(r *httpapi.Routes) {
	httpapi.Private(r, httpapi.Operation{
		ID: "announceUpload", Method: http.MethodPost, Path: uploadsPath, Tag: tag, Status: http.StatusCreated,
		Summary: "Announce an upload",
		Description: "For a file of up to 25 MiB. Send the content to the returned url with PUT and the returned " +
			"headers, within 15 minutes, then complete the upload. " +
			"Storage accepts only content of the announced size and hash, and only once. It responds with 412 if the " +
			"content is stored already, for example because the response to an earlier attempt was lost. " +
			"HTTP clients set the header Content-Length themselves; the body must not be sent in chunks. " +
			"The announced bytes count against the quotas until the upload is completed or the url expires. A project can " +
			"have 100 open uploads.",
		Errors: append([]*fault.Error{
			errInvalidPath, errIsFolder, errInsideFile, errTooManyUploads, workspace.ErrProjectNotFound, workspace.ErrDenied,
		}, quotaErrors...),
	}, s.AnnounceUpload)
	httpapi.Private(r, httpapi.Operation{
		ID: "completeUpload", Method: http.MethodPost, Path: uploadsPath + "/{uploadId}/complete", Tag: tag,
		Summary: "Complete an upload",
		Description: "Creates or updates the file with the uploaded content, up to 1 hour after the url has expired. " +
			"Without a precondition the last writer wins. " +
			"If the file already has this content, the file is not changed and no event is sent. " +
			"The request can be repeated for a day: if the upload is completed already, the response is 200 with the " +
			"version of the file that the first request created. " +
			"The error is CONFLICT if the content was not uploaded.",
		Status: http.StatusOK, OtherStatuses: []int{http.StatusCreated},
		Errors: append([]*fault.Error{
			errUploadNotFound, errNotFound, errNotUploaded, errUploadExpired, errIsFolder, errInsideFile,
		}, saveErrors...),
	}, s.CompleteUpload)
}

// maxContentType is the maximum length of the media type of an upload.
const maxContentType = 255

// AnnounceUploadInput is the input of AnnounceUpload.
type AnnounceUploadInput struct {
	InProject
	Body struct {
		Path        string `json:"path" doc:"The path of the file, as in a request to save a file" example:"/public/intro.mp4"`
		Size        int    `json:"size" minimum:"0" maximum:"26214400" doc:"The size of the content, in bytes" example:"10485760"`
		SHA256      string `json:"sha256" minLength:"64" maxLength:"64" doc:"The SHA-256 hash of the content, in hexadecimal" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
		ContentType string `json:"contentType,omitempty" doc:"The media type of the file, at most 255 characters. The default is derived from the path's extension" example:"video/mp4"`
	}
}

// Validate checks the rules that tags cannot express. It normalizes the media type.
func (in *AnnounceUploadInput) Validate(v *httpapi.Validation) {
	v.Field("path", path.CheckNew(in.Body.Path))
	sum, err := hex.DecodeString(in.Body.SHA256)
	if err != nil {
		v.Field("sha256", "must be 64 hexadecimal digits")
	}
	// The signature of a URL contains the size unless it is 0. Without this rule, the URL would accept any content.
	if empty := sha256.Sum256(nil); in.Body.Size == 0 && !bytes.Equal(sum, empty[:]) {
		v.Field("sha256", "must be the hash of empty content if size is 0")
	}
	if in.Body.ContentType != "" {
		var rule string
		in.Body.ContentType, rule = normalizeContentType(in.Body.ContentType)
		v.Field("contentType", rule)
	}
}

// normalizeContentType returns a media type as it is in headers. It returns the rule that the text breaks, or "".
func normalizeContentType(text string) (normalized, rule string) {
	mediaType, params, err := mime.ParseMediaType(text)
	if err == nil && strings.Contains(mediaType, "/") && !strings.ContainsFunc(text, unicode.IsControl) {
		normalized = mime.FormatMediaType(mediaType, params)
	}
	switch {
	case normalized == "":
		return "", "must be a media type, such as video/mp4"
	case len(normalized) > maxContentType:
		return "", "must be at most 255 characters long"
	}
	return normalized, ""
}

// AnnounceUploadOutput is the output of AnnounceUpload.
type AnnounceUploadOutput struct {
	Body struct {
		ID        string            `json:"id" doc:"The upload's ID" example:"upl_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		URL       string            `json:"url" doc:"The URL to which the content is sent. Everyone who has it can upload the content, so keep it secret" example:"https://bucket.s3.eu-central-1.amazonaws.com/contents/prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK/01K9ZQ3V7M8T5XW2ABCDEFGHJK?X-Amz-Expires=900"`
		Method    string            `json:"method" enum:"PUT" doc:"The method with which the content is sent" example:"PUT"`
		Headers   map[string]string `json:"headers" nullable:"false" doc:"The headers with which the content is sent, in addition to Content-Length" example:"{\"If-None-Match\":\"*\",\"X-Amz-Checksum-Sha256\":\"n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=\"}"`
		ExpiresAt clock.Timestamp   `json:"expiresAt" doc:"When the url expires: 15 minutes after the announcement" example:"2026-01-31T08:30:30.123Z"`
	}
}

// AnnounceUpload reserves the bytes of an upload, and returns the request with which the client can send them. It
// checks what CompleteUpload will check, but not the file's version.
func (s *Service) AnnounceUpload(
	ctx context.Context, caller httpapi.Caller, in *AnnounceUploadInput,
) (*AnnounceUploadOutput, error) {
	sum, err := hex.DecodeString(in.Body.SHA256)
	if err != nil {
		return nil, fmt.Errorf("file: decode a hash: %w", err)
	}
	u := upload{
		ID: s.ids.New(id.Upload), Status: uploadOpen, Path: in.Body.Path, Size: in.Body.Size, SHA256: sum,
		ContentType: in.Body.ContentType, ContentID: s.newVersion(""), UserID: caller.UserID,
	}
	packed, out := u.toContent(Base64), &AnnounceUploadOutput{}
	ops := []Operation{{Action: Save, Path: u.Path, packed: packed}}
	err = db.Retry(ctx, "announce an upload", func(ctx context.Context) error {
		_, stored, err := s.store.readState(ctx, caller.UserID, in.ProjectID, ops)
		if err != nil {
			return err
		}
		// The URL is signed before the time of the announcement is taken. So the reservation never ends before the URL.
		request := objectstore.Upload{Key: packed.ref().ObjectKey(in.ProjectID), Size: u.Size, SHA256: u.SHA256}
		if out.Body.URL, out.Body.Headers, err = s.store.bucket.PresignPut(ctx, request, uploadTime); err != nil {
			return err
		}
		by := author{userID: caller.UserID, at: s.now(), newVersion: s.newVersion}
		u.AnnouncedAt = clock.Stamp(by.at)
		_, err = planFiles(ops, stored, by, s.store.quotas)
		switch {
		case err != nil:
		case stored.tree.Uploads >= maxOpenUploads:
			err = errTooManyUploads.WithCause(errNoRoom)
		case stored.tree.Bytes+u.Size > s.store.quotas.Bytes:
			err = errStorageQuota(s.store.quotas)
		default:
			return s.store.announce(ctx, in.ProjectID, u)
		}
		return s.makeRoom(ctx, in.ProjectID, stored.tree, err)
	})
	out.Body.ID, out.Body.Method, out.Body.ExpiresAt = u.ID, http.MethodPut, clock.Stamp(u.urlExpiresAt())
	return out, err
}

// CompleteUploadInput is the input of CompleteUpload.
type CompleteUploadInput struct {
	InProject
	httpapi.ConditionInput
	UploadID string `path:"uploadId" doc:"The upload's ID" example:"upl_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

// CompleteUpload makes uploaded content the content of its file. If the upload is completed already, it returns the
// version of the file that was stored then.
func (s *Service) CompleteUpload(
	ctx context.Context, caller httpapi.Caller, in *CompleteUploadInput,
) (*SaveFileOutput, error) {
	condition, err := in.Preconditions()
	if err != nil {
		return nil, err
	}
	key := db.UploadKey(in.ProjectID, in.UploadID)
	access, err := s.store.Project(ctx, caller.UserID, in.ProjectID, workspace.Write, key)
	if err != nil {
		return nil, err
	}
	u, err := decodeUpload(in.UploadID, access.Items[key])
	if err != nil {
		return nil, err
	}
	if u.isCompleted() {
		completed := selection{u.Path, u.Version}
		access, err := s.store.Project(ctx, caller.UserID, in.ProjectID, workspace.Read, completed.keys(in.ProjectID)...)
		if err != nil {
			return nil, err
		}
		f, err := completed.choose(in.ProjectID, access.Items)
		return newSaveFileOutput(f, false), err
	}
	if s.now().Sub(u.AnnouncedAt.Time()) > completionTime {
		return nil, errUploadExpired
	}
	packed, err := s.store.readUpload(ctx, in.ProjectID, u)
	if err != nil {
		return nil, err
	}
	op := Operation{Action: Save, Path: u.Path, packed: packed, uploadID: in.UploadID, condition: condition}
	p, err := s.apply(ctx, caller, in.ProjectID, op)
	if errors.Is(err, errUploadCompleted) { // by another request, after this one has read the record
		return s.CompleteUpload(ctx, caller, in)
	}
	if err != nil {
		return nil, err
	}
	return newSaveFileOutput(p.results()[0], p.creates()), nil
}
