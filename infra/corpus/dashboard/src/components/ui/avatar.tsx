import * as A from "@radix-ui/react-avatar";
import { styled } from "@/lib/styled";

export const Avatar = styled(A.Root, "relative flex size-9 shrink-0 overflow-hidden rounded-full");
export const AvatarImage = styled(A.Image, "aspect-square size-full");
export const AvatarFallback = styled(
  A.Fallback,
  "flex size-full items-center justify-center rounded-full bg-accent text-xs font-medium text-accent-foreground",
);
