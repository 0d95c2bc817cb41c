package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"strings"
	"unicode"

	"devplatform/shared/clock"
	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
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
	}, s.announceUpload)
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
	}, s.completeUpload)
}

// maxContentType is the maximum length of the media type of an upload.
const maxContentType = 255

type announceUploadInput struct {
	InProject
	Body struct {
		Path        string `json:"path" doc:"The path of the file, as in a request to save a file" example:"/public/intro.mp4"`
		Size        int    `json:"size" minimum:"0" maximum:"26214400" doc:"The size of the content, in bytes" example:"10485760"`
		SHA256      string `json:"sha256" minLength:"64" maxLength:"64" doc:"The SHA-256 hash of the content, in hexadecimal" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
		ContentType string `json:"contentType,omitempty" doc:"The media type of the file, at most 255 characters. The default is derived from the path's extension" example:"video/mp4"`

		sum []byte
	}
}

// Validate checks the rules that tags cannot express. It decodes the hash, and normalizes the media type.
func (in *announceUploadInput) Validate(v *httpapi.Validation) {
	v.Field("path", path.CheckNew(in.Body.Path))
	var err error
	if in.Body.sum, err = hex.DecodeString(in.Body.SHA256); err != nil {
		v.Field("sha256", "must be 64 hexadecimal digits")
	}
	// The signature of a URL contains the size unless it is 0. Without this rule, the URL would accept any content.
	if empty := sha256.Sum256(nil); in.Body.Size == 0 && !bytes.Equal(in.Body.sum, empty[:]) {
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

type announceUploadOutput struct {
	Body struct {
		ID        string            `json:"id" doc:"The upload's ID" example:"upl_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
		URL       string            `json:"url" doc:"The URL to which the content is sent. Everyone who has it can upload the content, so keep it secret" example:"https://bucket.s3.eu-central-1.amazonaws.com/contents/prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK/01K9ZQ3V7M8T5XW2ABCDEFGHJK?X-Amz-Expires=900"`
		Method    string            `json:"method" enum:"PUT" doc:"The method with which the content is sent" example:"PUT"`
		Headers   map[string]string `json:"headers" nullable:"false" doc:"The headers with which the content is sent, in addition to Content-Length" example:"{\"If-None-Match\":\"*\",\"X-Amz-Checksum-Sha256\":\"n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=\"}"`
		ExpiresAt clock.Timestamp   `json:"expiresAt" doc:"When the url expires: 15 minutes after the announcement" example:"2026-01-31T08:30:30.123Z"`
	}
}

func (s *Service) announceUpload(
	ctx context.Context, caller httpapi.Caller, in *announceUploadInput,
) (*announceUploadOutput, error) {
	announced, err := s.Announce(ctx, caller, in.ProjectID, Announcement{
		Path: in.Body.Path, Size: in.Body.Size, SHA256: in.Body.sum, ContentType: in.Body.ContentType,
	})
	if err != nil {
		return nil, err
	}
	out := &announceUploadOutput{}
	out.Body.ID, out.Body.URL, out.Body.Method = announced.ID, announced.URL, http.MethodPut
	out.Body.Headers, out.Body.ExpiresAt = announced.Headers, clock.Stamp(announced.ExpiresAt)
	return out, nil
}

type completeUploadInput struct {
	InProject
	httpapi.ConditionInput
	UploadID string `path:"uploadId" doc:"The upload's ID" example:"upl_01K9ZQ3V7M8T5XW2ABCDEFGHJK"`
}

func (s *Service) completeUpload(
	ctx context.Context, caller httpapi.Caller, in *completeUploadInput,
) (*saveFileOutput, error) {
	condition, err := in.Preconditions()
	if err != nil {
		return nil, err
	}
	f, isNew, err := s.Complete(ctx, caller, in.ProjectID, in.UploadID, condition)
	if err != nil {
		return nil, err
	}
	return newSaveFileOutput(f, isNew), nil
}
