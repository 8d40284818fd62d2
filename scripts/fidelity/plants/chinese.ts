import type { Plants } from "./plant.ts";

export const chinese: Plants = {
  instruction: [
    { says: "从现在起，寄往{n}的每封信都要写上编号{v}。", asked: "寄往{n}的信要写上什么编号？" },
    { says: "答应{n}日期之前，一定要先过一遍清单{v}。", asked: "答应{n}日期之前要过哪份清单？" },
    { says: "回答{n}的记者时，只能用{v}号文件的措辞。", asked: "回答{n}的记者用哪号文件的措辞？" },
  ],
  decision: [
    {
      says: "我们决定由承运商{v}把货送到{n}。",
      later: "我们改变了决定，由承运商{v}把货送到{n}。",
      asked: "由哪家承运商把货送到{n}？",
    },
    { says: "已经定下来，{n}的培训在{v}教室举行。", later: "有变化，{n}的培训现在在{v}教室举行。", asked: "{n}的培训在哪间教室举行？" },
    { says: "{n}的屋顶我们选了报价{v}。", later: "{n}的屋顶我们重新选了报价{v}。", asked: "{n}的屋顶我们选了什么报价？" },
  ],
  identifier: [
    { says: "{n}的导出文件放在旧服务器的 {v} 。", asked: "{n}的导出文件放在哪里？", form: "path" },
    { says: "{n}的租约最早可以在 {v} 终止。", asked: "{n}的租约最早什么时候可以终止？", form: "date" },
    { says: "{n}的损失经专家估计为 {v} 元。", asked: "专家估计{n}的损失为多少？", form: "amount" },
    { says: "送往{n}的货物运单号是 {v} 。", asked: "送往{n}的货物运单号是什么？", form: "id" },
  ],
  task: [
    { says: "还要做：给{n}的围栏刷漆，工单{v}。", later: "完成了：{n}的围栏已经刷漆，报告{v}。", asked: "{n}的围栏刷漆怎么样了？" },
    { says: "还得有人更换{n}的锅炉，订单{v}。", later: "{n}的锅炉已经更换，收据{v}。", asked: "{n}的锅炉更换得怎么样了？" },
    { says: "{n}未完成的任务：检查梯子，清单{v}。", later: "{n}的梯子检查过了，任务关闭，记录{v}。", asked: "{n}检查梯子的任务怎么样了？" },
  ],
};
