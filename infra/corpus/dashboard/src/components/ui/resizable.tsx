import { GripVertical } from "lucide-react";
import * as R from "react-resizable-panels";
import { styled } from "@/lib/styled";

export const ResizablePanelGroup = styled(R.PanelGroup, "flex h-full w-full");
export const ResizablePanel = R.Panel;

export const ResizableHandle = () => (
  <R.PanelResizeHandle className="relative flex w-px items-center justify-center bg-border focus-visible:outline-none">
    <div className="z-10 flex h-5 w-3 items-center justify-center rounded-sm border bg-border">
      <GripVertical className="size-2.5" />
    </div>
  </R.PanelResizeHandle>
);
