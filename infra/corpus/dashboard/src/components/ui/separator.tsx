import * as S from "@radix-ui/react-separator";
import { styled } from "@/lib/styled";

export const Separator = styled(
  S.Root,
  "shrink-0 bg-border data-[orientation=horizontal]:h-px data-[orientation=horizontal]:w-full data-[orientation=vertical]:h-full data-[orientation=vertical]:w-px",
);
