package s3

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// multipart is a multipart upload of a test.
type multipart struct {
	*server

	id    *string
	parts []types.CompletedPart
}

func (s *server) begin(change func(*sdk.CreateMultipartUploadInput)) *multipart {
	s.t.Helper()
	in := &sdk.CreateMultipartUploadInput{Bucket: aws.String("bkt"), Key: aws.String("big"), ContentType: aws.String("video/mp4")}
	if change != nil {
		change(in)
	}
	out, err := s.CreateMultipartUpload(s.t.Context(), in)
	if err != nil {
		s.t.Fatal(err)
	}
	return &multipart{server: s, id: out.UploadId}
}

func (u *multipart) part(number int32, content []byte, algorithm types.ChecksumAlgorithm) error {
	u.t.Helper()
	out, err := u.UploadPart(u.t.Context(), &sdk.UploadPartInput{
		Bucket: aws.String("bkt"), Key: aws.String("big"), UploadId: u.id, PartNumber: &number, Body: bytes.NewReader(content),
		ChecksumAlgorithm: algorithm,
	})
	if err != nil {
		return err
	}
	u.parts = append(u.parts, types.CompletedPart{
		PartNumber: &number, ETag: out.ETag, ChecksumSHA256: out.ChecksumSHA256, ChecksumCRC32: out.ChecksumCRC32,
	})
	return nil
}

func (u *multipart) complete(change func(*sdk.CompleteMultipartUploadInput)) (*sdk.CompleteMultipartUploadOutput, error) {
	in := &sdk.CompleteMultipartUploadInput{
		Bucket: aws.String("bkt"), Key: aws.String("big"), UploadId: u.id, MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts},
	}
	if change != nil {
		change(in)
	}
	return u.CompleteMultipartUpload(u.t.Context(), in)
}

func (s *server) wantFiles(want int) {
	s.t.Helper()
	names, err := s.store.options.fs.List(s.store.files.dir)
	if err != nil || len(names) != want {
		s.t.Errorf("there are %d files (%v), want %d", len(names), err, want)
	}
}

func TestMultipart(t *testing.T) {
	t.Parallel()
	first, second := bytes.Repeat([]byte("1"), minPartSize), []byte("the end")
	whole := string(first) + string(second)
	crc32 := algorithmNamed("CRC32")
	for name, tc := range map[string]struct {
		algorithm types.ChecksumAlgorithm
		kind      types.ChecksumType
		checksum  func(*sdk.CompleteMultipartUploadOutput) *string
		want      string
	}{
		"default": {"", "", func(o *sdk.CompleteMultipartUploadOutput) *string { return o.ChecksumCRC64NVME }, sum(defaultAlgorithm, whole)},
		"composite": {
			"SHA256", "", func(o *sdk.CompleteMultipartUploadOutput) *string { return o.ChecksumSHA256 },
			sum(algorithmNamed("SHA256"), rawSum("SHA256", first)+rawSum("SHA256", second)) + "-2",
		},
		"full object": {"CRC32", "FULL_OBJECT", func(o *sdk.CompleteMultipartUploadOutput) *string { return o.ChecksumCRC32 }, sum(crc32, whole)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{})
			s.put("big", "old")
			u := s.begin(func(in *sdk.CreateMultipartUploadInput) {
				in.ChecksumAlgorithm, in.ChecksumType = tc.algorithm, tc.kind
			})
			for _, step := range []error{u.part(1, []byte("to be replaced"), tc.algorithm), u.part(2, second, tc.algorithm), u.part(1, first, tc.algorithm), u.part(3, second, tc.algorithm)} {
				if step != nil {
					t.Fatal(step)
				}
			}
			u.parts = []types.CompletedPart{u.parts[2], u.parts[1]} // part 3 is not used
			if tc.kind == types.ChecksumTypeFullObject {            // the request has the checksum of the object
				_, err := u.complete(func(in *sdk.CompleteMultipartUploadInput) { in.ChecksumCRC32 = aws.String(sum(crc32, "other")) })
				wantCode(t, err, "BadDigest")
			}
			out, err := u.complete(func(in *sdk.CompleteMultipartUploadInput) {
				if tc.kind == types.ChecksumTypeFullObject {
					in.ChecksumCRC32, in.ChecksumType, in.MpuObjectSize = &tc.want, tc.kind, aws.Int64(int64(len(whole)))
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			sums := md5.Sum(first)
			lastSum := md5.Sum(second)
			etags := md5.Sum(append(sums[:], lastSum[:]...))
			if want := fmt.Sprintf(`"%x-2"`, etags); *out.ETag != want {
				t.Errorf("the entity tag is %s, want %s", *out.ETag, want)
			}
			if got := aws.ToString(tc.checksum(out)); got != tc.want {
				t.Errorf("the checksum is %q, want %q", got, tc.want)
			}
			s.wantContent("big", whole)
			s.wantFiles(1)
			head, err := s.HeadObject(t.Context(), &sdk.HeadObjectInput{Bucket: aws.String("bkt"), Key: aws.String("big")})
			if err != nil || *head.ContentType != "video/mp4" {
				t.Errorf("got %+v, %v", head, err)
			}
			_, err = u.complete(nil)
			wantCode(t, err, "NoSuchUpload")
		})
	}
}

func rawSum(algorithm string, content []byte) string {
	h := algorithmNamed(algorithm).new()
	h.Write(content)
	return string(h.Sum(nil))
}

func TestMultipartRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	u := s.begin(func(in *sdk.CreateMultipartUploadInput) { in.ChecksumAlgorithm = "SHA256" })
	wantCode(t, u.part(1, []byte("small"), "SHA256"), "")
	wantCode(t, u.part(2, []byte("end"), "SHA256"), "")
	wantCode(t, u.part(0, []byte("end"), "SHA256"), "InvalidArgument")
	wantCode(t, u.part(10001, []byte("end"), "SHA256"), "InvalidArgument")
	wantCode(t, u.part(3, []byte("end"), "CRC32"), "InvalidRequest")
	part := "/bkt/big?partNumber=1&uploadId=" + *u.id
	s.want(s.signed(http.MethodPut, part, "x", setHeader("X-Amz-Checksum-Sha256", "?")), 400, "InvalidRequest")
	s.want(s.signed(http.MethodPut, part, "x", setHeader("X-Amz-Checksum-Sha256", sum(algorithmNamed("SHA256"), "y"))), 400, "BadDigest")
	parts := u.parts
	for name, tc := range map[string]struct {
		parts []types.CompletedPart
		want  string
	}{
		"small":    {parts, "EntityTooSmall"},
		"order":    {[]types.CompletedPart{parts[1], parts[0]}, "InvalidPartOrder"},
		"twice":    {[]types.CompletedPart{parts[1], parts[1]}, "InvalidPartOrder"},
		"missing":  {[]types.CompletedPart{{PartNumber: aws.Int32(9), ETag: parts[0].ETag}}, "InvalidPart"},
		"other":    {[]types.CompletedPart{{PartNumber: aws.Int32(1), ETag: parts[1].ETag}}, "InvalidPart"},
		"checksum": {[]types.CompletedPart{{PartNumber: aws.Int32(1), ETag: parts[0].ETag, ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(make([]byte, 32)))}}, "InvalidPart"},
		"none":     {nil, "MalformedXML"},
	} {
		u.parts = tc.parts
		if _, err := u.complete(nil); code(err) != tc.want {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
	}
	u.parts = parts[1:]
	_, err := u.complete(func(in *sdk.CompleteMultipartUploadInput) { in.MpuObjectSize = aws.Int64(4) })
	wantCode(t, err, "InvalidRequest")
	s.put("big", "in the way")
	_, err = u.complete(func(in *sdk.CompleteMultipartUploadInput) { in.IfNoneMatch = aws.String("*") })
	wantCode(t, err, "PreconditionFailed")
	s.wantContent("big", "in the way")
	s.wantFiles(3)
	_, err = s.AbortMultipartUpload(t.Context(), &sdk.AbortMultipartUploadInput{Bucket: aws.String("bkt"), Key: aws.String("big"), UploadId: u.id})
	wantCode(t, err, "")
	wantCode(t, u.part(1, []byte("x"), "SHA256"), "NoSuchUpload")
	s.wantFiles(1)
	_, err = s.CreateMultipartUpload(t.Context(), &sdk.CreateMultipartUploadInput{
		Bucket: aws.String("bkt"), Key: aws.String("k"), ChecksumAlgorithm: "SHA256", ChecksumType: "FULL_OBJECT",
	})
	wantCode(t, err, "InvalidRequest")
}

// The lifecycle of an object begins when its upload is initiated.
func TestMultipartTime(t *testing.T) {
	t.Parallel()
	initiated := time.Now().UTC().Truncate(time.Second)
	clock := &clock{now: initiated}
	s := start(t, Options{Now: clock.Now})
	u := s.begin(nil)
	clock.set(initiated.Add(10 * time.Minute))
	wantCode(t, u.part(1, []byte("content"), ""), "")
	_, err := u.complete(nil)
	wantCode(t, err, "")
	head, err := s.HeadObject(t.Context(), &sdk.HeadObjectInput{Bucket: aws.String("bkt"), Key: aws.String("big")})
	if err != nil || !head.LastModified.Equal(initiated) {
		t.Errorf("got %+v, %v, want the time %v", head, err, initiated)
	}
}
